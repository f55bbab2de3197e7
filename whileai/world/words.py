"""The small vocabulary that asks and worlds draw from, and the draw itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from whileai.core.seeds import integer

T = TypeVar("T")
_MASK = (1 << 64) - 1


class Draw:
    """A stream of choices that depends on its parts alone (splitmix64: Steele, Lea and Flood 2014, figure 15)."""

    __slots__ = ("_state",)

    def __init__(self, *parts: Any) -> None:
        """A single whole number is taken as it is, because it is a hash already or the generator scrambles it."""
        first = parts[0] if len(parts) == 1 else None
        self._state = first if isinstance(first, int) else integer(*parts)

    def below(self, n: int) -> int:
        """A whole number in [0, n)."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return ((z ^ (z >> 31)) * n) >> 64

    def unit(self) -> float:
        """A number in [0, 1)."""
        return self.below(1 << 53) / (1 << 53)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def chance(self, one_in: int) -> bool:
        """True once in `one_in` draws."""
        return self.below(one_in) == 0

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in another order (Fisher-Yates)."""
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1)
            out[i], out[j] = out[j], out[i]
        return out


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


FIRST_NAMES = _list(
    "Amara, Bruno, Chiara, Dmitri, Elif, Farah, Goran, Hana, Imani, Jonas, Keiko, Lucia, Mateo, Nadia, Omar, Priya, "
    "Quentin, Rosa, Sven, Tariq, Ulla, Viktor, Wanjiru, Ximena, Yusuf, Zofia, Anders, Beatriz, Callum, Delphine, "
    "Emeka, Freya, Gustavo, Hiroshi, Ingrid, Jamal, Katya, Leila, Marek, Noor"
)
LAST_NAMES = _list(
    "Okafor, Lindqvist, Moreau, Tanaka, Silva, Novak, Haddad, Kowalski, Brennan, Castellano, Petrov, Osei, Fischer, "
    "Iyer, Marchetti, Dubois, Yilmaz, Andersson, Mwangi, Reyes, Takahashi, Vance, Whitlock, Zeman, Abernathy, Bose"
)
CITIES = _list(
    "Lisbon, Osaka, Nairobi, Leeds, Montreal, Gdansk, Lyon, Austin, Hobart, Bergen, Valencia, Porto, Dresden, "
    "Kyoto, Cork, Turin, Ghent, Malaga, Tallinn, Denver, Bristol, Quito, Perth, Seville, Accra, Basel, Izmir, Riga, "
    "Halifax, Oslo, Busan, Palermo, Utrecht, Boise, Cusco, Dakar, Split, Aarhus, Graz, Nantes"
)
COUNTRIES = _list(
    "Portugal, Japan, Kenya, Canada, Poland, France, Norway, Spain, Germany, Ireland, Italy, Belgium, Chile"
)
STREETS = _list("Elm Street, Harbour Road, Mill Lane, Station Road, Oak Avenue, Canal Street, Hill Rise, Market Square")
CURRENCIES = _list("EUR, USD, GBP, JPY, CAD, CHF, SEK, PLN")
LANGUAGES = _list("French, Polish, Spanish, German, Italian, Turkish, Portuguese, Japanese, Dutch, Arabic")
DAYS = _list("Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday")
PRODUCTS = _list(
    "walnut desk lamp, blue enamel kettle, folding bicycle, wool blanket, espresso grinder, hiking boots, canvas "
    "tent, cast iron pan, noise cancelling headphones, ceramic planter, rain jacket, standing desk, chess set, "
    "travel pillow, water filter, bread knife, yoga mat, desk fan, leather satchel, bird feeder, record player, "
    "picnic basket, garden hose, bike helmet, reading glasses, sewing kit, camping stove, wall clock, door mat, "
    "spice rack"
)
PROBLEMS = _list(
    "arrived with a crack, came in the wrong colour, has a missing part, was left in the rain, stopped working "
    "after a week, is the wrong size, never turned up, was charged twice, smells of smoke, has a torn box, does not "
    "switch on, came a week late, is a duplicate, no longer needed, has a loose handle, was opened before delivery"
)
PEOPLE = _list(
    "my sister, my manager, my neighbour, our accountant, my father, a colleague, my flatmate, our landlord, my "
    "wife, my husband, our office manager, my aunt, my daughter, a client of mine, my business partner, our head of "
    "sales, my grandmother, my brother, our receptionist, my tutor"
)
EVENTS = _list(
    "a train to catch, a flight, a meeting, school pick-up, a dentist visit, a birthday party, a client call, "
    "a house move, an audit, a wedding, a night shift, a board review, a job interview, a parents' evening, "
    "a stock count, choir practice, a court date, a house viewing, a football match, a driving test, a book club, "
    "a piano lesson, a tax appointment, a school play, a site visit, an eye test, a team lunch, a haircut"
)
PLACES = _list(
    "on the bus, in a noisy cafe, at the warehouse, in my car, in a waiting room, at the airport, on a building site, "
    "at the school gate, in the back office, in a hotel lobby, at the market, on a ferry, in the garage, "
    "at the front desk, in the library, on the beach, on a night train, at the gym, in the laundrette, at the stadium"
)
