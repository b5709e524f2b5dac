import type { Registry } from '../registry/registry.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Principal } from '../principal/principal.ts';

/** The definition as this caller sees it. */
export function resolveServer(
  registry: Pick<Registry, 'find'>,
  principal: Principal,
  name: string,
): ServerSnapshot | undefined {
  return registry.find(principal.tenant, name);
}
