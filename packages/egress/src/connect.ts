import type { Duplex } from 'node:stream';
import { abortReason, type Clock, type Dial, type Resolve } from '@behalf/kernel';
import { parseAddress } from './address.ts';
import { dialFirst } from './dialFirst.ts';
import { connectionError, EgressError, isUntrusted } from './errors.ts';
import type { CheckedTarget, Judge, JudgeOptions } from './judge.ts';
import type { ProxyChoice } from './proxyChoice.ts';
import type { Proxy } from './proxyUrl.ts';
import { openTunnel } from './tunnel.ts';
import { targetOf } from './target.ts';

export interface ConnectOptions extends Pick<JudgeOptions, 'audience' | 'exemptions'> {
  proxyFor: ProxyChoice;
  /** PEM certificates: the only authorities that may vouch for the server. */
  ca: string | undefined;
  /** Judging, resolving, dialling, the proxy's hand-shake and TLS together. */
  connectMs: number;
}

/** Opens a socket to a URL's server: judged, then dialled at the address that was judged, in one step. */
export type Connect = (url: URL, options: ConnectOptions, signal: AbortSignal) => Promise<Duplex>;

type Trust = Pick<ConnectOptions, 'ca'>;

export function createConnect(parts: { judge: Judge; resolve: Resolve; dial: Dial; clock: Clock }): Connect {
  const { judge, dial, clock } = parts;

  async function direct(target: CheckedTarget, { ca }: Trust, signal: AbortSignal): Promise<Duplex> {
    const { host, port, tls, addresses } = target;
    return dialFirst(parts, addresses, { port, servername: host, tls, ca }, signal);
  }

  async function through(
    proxy: Proxy,
    target: CheckedTarget,
    { ca }: Trust,
    signal: AbortSignal,
  ): Promise<Duplex> {
    // The operator chose the proxy and it usually is private: its own address is not judged.
    const at = parseAddress(proxy.host) ? [proxy.host] : await parts.resolve(proxy.host);
    // The authority of the server has nothing to say about the proxy.
    const link = { port: proxy.port, servername: proxy.host, tls: proxy.kind === 'https' };
    const socket = await dialFirst(parts, at, link, signal);
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
      return await dial({ address, port, servername, tls: true, ca, over: socket }, signal).catch(
        (error: unknown) => {
          // It is the server that nobody vouches for; the proxy did its part.
          throw isUntrusted(error) ? connectionError(error, servername, false) : error;
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

  async function open(url: URL, options: ConnectOptions, signal: AbortSignal): Promise<Duplex> {
    const proxy = options.proxyFor(targetOf(url));
    const target = await judge(url, { ...options, proxied: proxy !== undefined });
    // Whoever waited has left while DNS took its time: do not dial for nobody.
    if (signal.aborted) throw abortReason(signal);
    if (!proxy) return direct(target, options, signal);
    try {
      return await through(proxy, target, options, signal);
    } catch (error) {
      if (error instanceof EgressError) throw error;
      const { detail } = connectionError(error, target.host, false);
      throw new EgressError('proxy_refused', target.host, detail === undefined ? {} : { detail });
    }
  }

  return (url, options, signal) =>
    new Promise((resolve, reject) => {
      const { host } = targetOf(url);
      const attempt = new AbortController();
      let settled = false;
      const settle = (outcome: () => void) => {
        if (settled) return;
        settled = true;
        cancel();
        signal.removeEventListener('abort', onAbort);
        outcome();
      };
      const give = (error: Error) =>
        settle(() => {
          attempt.abort(error);
          reject(error);
        });
      const onAbort = () => give(abortReason(signal));
      const cancel = clock.timer(options.connectMs, () =>
        give(new EgressError('connect_timeout', host, { detail: `${options.connectMs} ms` })),
      );
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      open(url, options, attempt.signal).then(
        (socket) => {
          if (settled) socket.on('error', () => undefined).destroy();
          else settle(() => resolve(socket));
        },
        (error: unknown) => give(connectionError(error, host, false)),
      );
    });
}
