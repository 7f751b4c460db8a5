"""The engines that come with BagPack, one module each."""
