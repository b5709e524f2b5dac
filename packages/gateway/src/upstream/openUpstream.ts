import { abortReason } from '@behalf/kernel';
import { openChannelUpstream } from './channel/openChannelUpstream.ts';
import { createOpenStdio } from './channel/openStdio.ts';
import { createSseTransport } from './channel/sseTransport.ts';
import type { StdioLimits } from './channel/stdioLimits.ts';
import { createWebSocketTransport } from './channel/webSocketTransport.ts';
import { createEraVerdicts } from './http/eraVerdicts.ts';
import { openHttpUpstream } from './http/openHttpUpstream.ts';
import type { UpstreamParts } from './parts.ts';
import type { OpenOptions, UpstreamTarget } from './target.ts';
import { watchToken } from './tokenWait.ts';
import type { Upstream } from './upstream.ts';
import { UpstreamError } from './upstreamError.ts';

export type OpenUpstream = (target: UpstreamTarget, options: OpenOptions) => Promise<Upstream>;

/** Opens a conversation over whatever the target says. `initTimeoutMs` bounds all of it. */
export function createOpenUpstream(parts: UpstreamParts & { readonly limits: StdioLimits }): OpenUpstream {
  const { clock, network } = parts;
  const openStdio = createOpenStdio(parts);
  const eras = createEraVerdicts({ clock });

  function open(target: UpstreamTarget, options: OpenOptions): Promise<Upstream> {
    switch (target.type) {
      case 'stdio':
        return openStdio(target, options);
      case 'streamable-http':
        return openHttpUpstream(target, options, parts, eras);
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
    const bound = new AbortController();
    const onAbort = () => bound.abort(abortReason(options.signal));
    options.signal.addEventListener('abort', onAbort, { once: true });
    const wait = watchToken(target);
    const late = () => bound.abort(new UpstreamError(wait.pending ? 'token_late' : 'connect_timeout'));
    const stop = clock.timer(options.initTimeoutMs, late, { hold: true });
    try {
      return await open(wait.target, { ...options, signal: bound.signal });
    } finally {
      stop();
      options.signal.removeEventListener('abort', onAbort);
    }
  };
}
