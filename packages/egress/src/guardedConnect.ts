import type { Duplex } from 'node:stream';
import { abortReason, type Clock, type Dial, type Resolve } from '@behalf/kernel';
import { parseAddress } from './address.ts';
import { dialFirst } from './dialFirst.ts';
import { toEgressError, EgressError, isUntrustedCertificate } from './errors.ts';
import type { CheckedTarget, CheckTarget, TargetCheckOptions } from './targetCheck.ts';
import type { ProxySelector } from './proxySelector.ts';
import type { Proxy } from './proxyUrl.ts';
import { openTunnel } from './tunnel.ts';
import { parseTarget } from './target.ts';

export interface ConnectOptions extends Pick<TargetCheckOptions, 'audience' | 'hasExemptions'> {
  proxyFor: ProxySelector;
  /** PEM certificates: the only authorities that may vouch for the server. */
  ca: string | undefined;
  /** Judging, resolving, dialling, the proxy's hand-shake and TLS together. */
  connectMs: number;
}

/** Opens a socket to a URL's server: judged, then dialled at the address that was judged, in one step. */
export type GuardedConnect = (url: URL, options: ConnectOptions, signal: AbortSignal) => Promise<Duplex>;

type CertificateTrust = Pick<ConnectOptions, 'ca'>;

export function createGuardedConnect(parts: {
  checkTarget: CheckTarget;
  resolve: Resolve;
  dial: Dial;
  clock: Clock;
}): GuardedConnect {
  const { checkTarget, dial, clock } = parts;

  async function connectDirect(
    target: CheckedTarget,
    { ca }: CertificateTrust,
    signal: AbortSignal,
  ): Promise<Duplex> {
    const { host, port, tls, addresses } = target;
    return dialFirst(parts, addresses, { port, servername: host, tls, ca }, signal);
  }

  async function connectThroughProxy(
    proxy: Proxy,
    target: CheckedTarget,
    { ca }: CertificateTrust,
    signal: AbortSignal,
  ): Promise<Duplex> {
    // The operator chose the proxy and it usually is private: its own address is not judged.
    const proxyAddresses = parseAddress(proxy.host) ? [proxy.host] : await parts.resolve(proxy.host);
    // The authority of the server has nothing to say about the proxy.
    const proxyEndpoint = { port: proxy.port, servername: proxy.host, tls: proxy.kind === 'https' };
    const socket = await dialFirst(parts, proxyAddresses, proxyEndpoint, signal);
    const onAbort = () => socket.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    // The socket may fail between two hand-shakes, when nobody listens.
    const onError = () => undefined;
    socket.on('error', onError);
    try {
      // The checked literal, not the name: the proxy's DNS gets no say. Only an opened name may lack one.
      const [address = target.host] = target.addresses;
      await openTunnel(socket, proxy, address, target.port);
      if (!target.tls) return socket;
      const { host: servername, port } = target;
      return await dial({ address, port, servername, tls: true, ca, tunnel: socket }, signal).catch(
        (error: unknown) => {
          // It is the server that nobody vouches for; the proxy did its part.
          throw isUntrustedCertificate(error) ? toEgressError(error, servername, false) : error;
        },
      );
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      if (socket.destroyed) socket.on('error', onError);
    }
  }

  async function openSocket(url: URL, options: ConnectOptions, signal: AbortSignal): Promise<Duplex> {
    const proxy = options.proxyFor(parseTarget(url));
    const target = await checkTarget(url, { ...options, isProxied: proxy !== undefined });
    // Whoever waited has left while DNS took its time: do not dial for nobody.
    if (signal.aborted) throw abortReason(signal);
    if (!proxy) return connectDirect(target, options, signal);
    try {
      return await connectThroughProxy(proxy, target, options, signal);
    } catch (error) {
      if (error instanceof EgressError) throw error;
      const { detail } = toEgressError(error, target.host, false);
      throw new EgressError('proxy_refused', target.host, detail === undefined ? {} : { detail });
    }
  }

  return (url, options, signal) =>
    new Promise((resolve, reject) => {
      const { host } = parseTarget(url);
      const attemptController = new AbortController();
      let isSettled = false;
      const settle = (outcome: () => void) => {
        if (isSettled) return;
        isSettled = true;
        cancel();
        signal.removeEventListener('abort', onAbort);
        outcome();
      };
      const fail = (error: Error) =>
        settle(() => {
          attemptController.abort(error);
          reject(error);
        });
      const onAbort = () => fail(abortReason(signal));
      const cancel = clock.timer(options.connectMs, () =>
        fail(new EgressError('connect_timeout', host, { detail: `${options.connectMs} ms` })),
      );
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      openSocket(url, options, attemptController.signal).then(
        (socket) => {
          if (isSettled) socket.on('error', () => undefined).destroy();
          else settle(() => resolve(socket));
        },
        (error: unknown) => fail(toEgressError(error, host, false)),
      );
    });
}
