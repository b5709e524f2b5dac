import { abortReason } from '@behalf/kernel';
import { openChannelUpstream } from './channel/openChannelUpstream.ts';
import { createOpenStdio } from './channel/openStdio.ts';
import { createSseTransport } from './channel/sseTransport.ts';
import type { StdioLimits } from './channel/stdioTransport.ts';
import { createWebSocketTransport } from './channel/webSocketTransport.ts';
import { createProtocolVersionCache, openHttpUpstream } from './http/negotiate.ts';
import type { Upstream, UpstreamParts } from './upstream.ts';
import type { OpenOptions, UpstreamTarget } from './target.ts';
import { trackTokenWait } from './bearer.ts';
import { UpstreamError } from './upstreamError.ts';

export type OpenUpstream = (target: UpstreamTarget, options: OpenOptions) => Promise<Upstream>;

/** Opens a conversation over whatever the target says. `initTimeoutMs` bounds all of it. */
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
    const tokenWait = trackTokenWait(target);
    const onTimeout = () =>
      timeoutController.abort(new UpstreamError(tokenWait.isPending ? 'token_timeout' : 'connect_timeout'));
    const cancelTimer = clock.timer(options.initTimeoutMs, onTimeout, { keepAlive: true });
    try {
      return await open(tokenWait.target, { ...options, signal: timeoutController.signal });
    } finally {
      cancelTimer();
      options.signal.removeEventListener('abort', onAbort);
    }
  };
}
