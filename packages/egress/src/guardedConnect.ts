import type { Duplex } from 'node:stream';
import { type Clock, type Dial, type DialTarget, type Resolve, abortReason } from '@behalf/kernel';
import { parseAddress } from './address.ts';
import { EgressError, isUntrustedCertificate, toEgressError } from './errors.ts';
import { type Proxy, type ProxySelector, openTunnel } from './proxy.ts';
import { parseTarget } from './target.ts';
import type { CheckTarget, CheckedTarget, TargetCheckOptions } from './targetCheck.ts';

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

/** RFC 8305 section 5: how long one address may stay silent before the next is tried beside it. */
const STAGGER_MS = 250;

/**
 * Connects to the first of several checked addresses that answers: a black-holed IPv6 route must not cost the whole
 * connect timeout. Losers are closed.
 */
function dialFirst(
  parts: { dial: Dial; clock: Clock },
  addresses: readonly string[],
  endpoint: Omit<DialTarget, 'address' | 'tunnel'>,
  signal: AbortSignal,
): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const raceController = new AbortController();
    let nextIndex = 0;
    let pending = 0;
    let isSettled = false;
    let cancelTimer: () => void = () => undefined;

    const settle = (outcome: () => void) => {
      if (isSettled) return;
      isSettled = true;
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      outcome();
      raceController.abort();
    };
    const onAbort = () => settle(() => reject(abortReason(signal)));

    const attempt = () => {
      cancelTimer();
      const address = addresses[nextIndex];
      if (isSettled || address === undefined) return;
      nextIndex += 1;
      pending += 1;
      if (nextIndex < addresses.length) cancelTimer = parts.clock.timer(STAGGER_MS, attempt);
      parts.dial({ ...endpoint, address }, raceController.signal).then(
        (socket) => {
          if (isSettled) socket.on('error', () => undefined).destroy();
          else settle(() => resolve(socket));
        },
        (error: unknown) => {
          pending -= 1;
          if (nextIndex < addresses.length) attempt();
          // Whatever the dialler threw is what the caller classifies.
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
          else if (pending === 0) settle(() => reject(error));
        },
      );
    };

    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    attempt();
  });
}
