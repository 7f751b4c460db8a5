"""The pages and their JSON twins, one module per subject; a new one is added to `ROUTERS`."""

from bagpack.app.routers import (
    assets,
    compare,
    concordance,
    datasets,
    distribution,
    home,
    model,
    pairs,
    teach,
    words,
)

ROUTERS = tuple(
    module.router
    for module in (
        home,
        words,
        pairs,
        concordance,
        distribution,
        compare,
        model,
        datasets,
        teach,
        assets,
    )
)
