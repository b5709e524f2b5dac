import type { ServerTools } from '@behalf/gateway';
import type { Logger } from '../../logger.ts';

/** Callers are told of their own; the operator reads here that a server is away. */
export function warnUnreachable(logger: Logger, servers: readonly ServerTools[]): void {
  for (const { server, state, code } of servers) {
    if (state === 'unreachable')
      logger.warn('A server cannot be reached', { server: server.name, code: code ?? '' });
  }
}
