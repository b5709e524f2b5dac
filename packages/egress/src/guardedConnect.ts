import type { Duplex } from 'node:stream';
import { type Clock, type Dial, type DialTarget, type Resolve, abortReason } from '@behalf/kernel';
import { parseAddress } from './address.ts';
import { EgressError, isUntrustedCertificate, toEgressError } from './errors.ts';
import { type Proxy, type ProxySelector, openTunnel } from './proxy.ts';
import { parseTarget } from './target.ts';
import type { CheckTarget, CheckedTarget, TargetCheckOptions } from './targetCheck.ts';

export interface ConnectOptions extends Pick<TargetCheckOptions, 'audience' | 'hasExemptions'> {
  proxyFor: ProxySelector;
  /** PEM certificates of the only authorities that are trusted for this server. */
  ca: string | undefined;
  /** Limits target check, DNS, TCP connect, proxy handshake and TLS together. */
  connectMs: number;
}

/**
 * Opens a socket to the server of a URL. It connects only to the addresses that the target check approved, in the
 * same step.
 */
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
    // The target check does not apply to the proxy: the operator chose it, and its address is usually private.
    const proxyAddresses = parseAddress(proxy.host) ? [proxy.host] : await parts.resolve(proxy.host);
    // `ca` is the authority of the server and does not apply to the proxy.
    const proxyEndpoint = { port: proxy.port, servername: proxy.host, tls: proxy.kind === 'https' };
    const socket = await dialFirst(parts, proxyAddresses, proxyEndpoint, signal);
    const onAbort = () => socket.destroy();
    signal.addEventListener('abort', onAbort, { once: true });
    // The socket can fail between the two handshakes, when no other listener is attached.
    const onError = () => undefined;
    socket.on('error', onError);
    try {
      // Sends the checked IP address to the proxy, not the name, so that the proxy does not resolve the name again.
      // Only a host that the operator allowed may lack an address.
      const [address = target.host] = target.addresses;
      await openTunnel(socket, proxy, address, target.port);
      if (!target.tls) return socket;
      const { host: servername, port } = target;
      return await dial({ address, port, servername, tls: true, ca, tunnel: socket }, signal).catch(
        (error: unknown) => {
          // An untrusted certificate is an error of the server, not of the proxy.
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
    // The caller may have aborted during the DNS lookup.
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

/** How long to wait for one address before trying the next one in parallel (RFC 8305 section 5). */
const STAGGER_MS = 250;

/**
 * Connects to the first of several checked addresses that answers, so that a broken IPv6 route does not use up the
 * whole connect timeout. The other sockets are closed.
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
          // Rejects with the original error: the caller classifies it.
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
