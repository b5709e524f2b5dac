import { usesGraph, usesObo } from '../../registry/scope.ts';
import type { ServerSnapshot } from '../../registry/server.ts';
import type { Exchanger } from './exchanger.ts';

/**
 * Told which servers there are, it has the tokens forgotten of those that are gone or other ones by now. No call could
 * find them any more; this is so that they do not lie about until they end.
 */
export function createOutdatedTokenEviction(
  exchanger: Pick<Exchanger, 'evictServer'>,
): (servers: readonly ServerSnapshot[]) => void {
  let previous = new Map<string, ServerSnapshot>();
  return (servers) => {
    const current = new Map(
      servers
        .filter(({ settings }) => usesObo(settings) || usesGraph(settings))
        .map((server) => [JSON.stringify([server.tenant, server.id]), server]),
    );
    for (const [key, { tenant, id, revision, securityDecision: secured }] of previous) {
      const server = current.get(key);
      const isUnchanged =
        server?.revision === revision && server.securityDecision?.decidedBy === secured?.decidedBy;
      if (!isUnchanged) void exchanger.evictServer(tenant, id);
    }
    previous = current;
  };
}
