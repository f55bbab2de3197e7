"""The statistics: arrays in, frozen results out. Closed forms only, so the same rows always give the same answer."""
