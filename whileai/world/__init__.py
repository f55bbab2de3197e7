"""The world an agent is tested in: tools, situations, the words users choose, and what the tools answer."""
