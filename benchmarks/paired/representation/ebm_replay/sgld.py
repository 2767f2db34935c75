import torch as t


def init_random(args, bs):
    return t.FloatTensor(bs, args.n_ch, args.im_sz, args.im_sz).uniform_(-1, 1)


def get_buffer(args):
    # lives in host memory: with 10000 images it would not fit next to the model
    return init_random(args, args.buffer_size)


def sample_p_0(args, device, replay_buffer, bs):
    inds = t.randint(0, args.buffer_size, (bs,))
    buffer_samples = replay_buffer[inds]
    random_samples = init_random(args, bs)
    choose_random = (t.rand(bs) < args.reinit_freq).float()[:, None, None, None]
    samples = choose_random * random_samples + (1 - choose_random) * buffer_samples
    return samples.to(device), inds


def sample_q(args, device, f, replay_buffer, n_steps):
    f.eval()
    bs = args.batch_size
    x_k, buffer_inds = sample_p_0(args, device, replay_buffer, bs)
    x_k = x_k.clone().requires_grad_(True)
    for _ in range(n_steps):
        f_prime = t.autograd.grad(f(x_k).sum(), [x_k], retain_graph=True)[0]
        x_k.data += args.sgld_lr * f_prime + args.sgld_std * t.randn_like(x_k)
    f.train()
    final_samples = x_k.detach()
    replay_buffer[buffer_inds] = final_samples.cpu()
    return final_samples
