import { abortReason } from '@behalf/kernel';
import { openChannelUpstream } from './channel/openChannelUpstream.ts';
import { createOpenStdio } from './channel/openStdio.ts';
import { createSseTransport } from './channel/sseTransport.ts';
import type { StdioLimits } from './channel/stdioTransport.ts';
import { createWebSocketTransport } from './channel/webSocketTransport.ts';
import { openHttpUpstream } from './http/negotiate.ts';
import { createProtocolVersionCache } from './protocolVersionCache.ts';
import type { Bearer, OpenOptions, UpstreamTarget } from './target.ts';
import type { Upstream, UpstreamParts } from './upstream.ts';
import { UpstreamError } from './upstreamError.ts';

export type OpenUpstream = (target: UpstreamTarget, options: OpenOptions) => Promise<Upstream>;

/** Opens an upstream over the transport of the target. `initTimeoutMs` limits the whole operation. */
export function createOpenUpstream(parts: UpstreamParts & { readonly limits: StdioLimits }): OpenUpstream {
  const { clock, network } = parts;
  const openStdio = createOpenStdio(parts);
  const versionCache = createProtocolVersionCache({ clock });

  function open(target: UpstreamTarget, options: OpenOptions): Promise<Upstream> {
    switch (target.type) {
      case 'stdio':
        return openStdio(target, options);
      case 'streamable-http':
        return openHttpUpstream(target, options, parts, versionCache);
      case 'sse':
        return openChannelUpstream(
          createSseTransport(target, parts),
          { ...options, era: 'legacy', bearer: target.bearer },
          parts,
        );
      case 'websocket': {
        const { signal } = options;
        const channel = createWebSocketTransport(target, { clock, network, signal });
        return openChannelUpstream(channel, { ...options, era: 'legacy' }, parts);
      }
    }
  }

  return async (target, options) => {
    options.signal.throwIfAborted();
    const timeoutController = new AbortController();
    const onAbort = () => timeoutController.abort(abortReason(options.signal));
    options.signal.addEventListener('abort', onAbort, { once: true });
    let pendingTokens = 0;
    const trackedTarget =
      target.type !== 'stdio' && target.bearer
        ? { ...target, bearer: trackTokenWait(target.bearer, (delta) => (pendingTokens += delta)) }
        : target;
    const onTimeout = () =>
      timeoutController.abort(new UpstreamError(pendingTokens > 0 ? 'token_timeout' : 'connect_timeout'));
    const cancelTimer = clock.timer(options.initTimeoutMs, onTimeout, { keepAlive: true });
    try {
      return await open(trackedTarget, { ...options, signal: timeoutController.signal });
    } finally {
      cancelTimer();
      options.signal.removeEventListener('abort', onAbort);
    }
  };
}

/** Counts pending token requests. A slow token exchange must not be attributed to the server. */
function trackTokenWait(bearer: Bearer, adjustPending: (delta: 1 | -1) => void): Bearer {
  return {
    ...bearer,
    token() {
      const tokenResult = bearer.token();
      if (!(tokenResult instanceof Promise)) return tokenResult;
      adjustPending(1);
      return tokenResult.finally(() => adjustPending(-1));
    },
  };
}
