from gpytorch.priors import LKJCovariancePrior, SmoothedBoxPrior

prior = LKJCovariancePrior(2, 0.5, SmoothedBoxPrior(0.1, 1.0)).cuda()
prior.sample()
