import { isValidAlias } from '@behalf/contracts';
import type { NamedKind, Naming } from '../catalog/naming.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { EndpointParts } from './endpoint.ts';
import { resolveServer } from './resolveServer.ts';

/** What is known of what a server has. What an incomplete list lacks, the server may have all the same. */
export interface ListedNames {
  readonly names: readonly string[];
  readonly complete: boolean;
}

/** The name that something has without its server's key before it; undefined: it has none. */
export type UnprefixedNameLookup = (server: ServerSnapshot, name: string) => string | undefined;

/**
 * Which names stand alone for this caller. One that the operator chose by hand stands for that and nothing else. Any other
 * belongs to the first server of the list that has it, and only if each server before that one is the caller's, is known and
 * lacks it: while one is away, was never listed or is not theirs, nobody else answers to a name that may be its own.
 */
export function createUnprefixedNameLookup(
  parts: Pick<EndpointParts, 'naming' | 'registry' | 'canSee'>,
  principal: Principal,
  kind: NamedKind,
  getListedNames: (server: ServerSnapshot) => ListedNames | undefined,
): UnprefixedNameLookup {
  const naming = parts.naming();
  const owners = new Map<string, string>();
  for (const name of naming.priority) {
    const server = resolveServer(parts.registry, principal, name);
    const listed = server && parts.canSee(principal, server) ? getListedNames(server) : undefined;
    if (!listed) break;
    for (const upstreamName of listed.names) {
      if (canBeUnprefixed(naming, kind, name, upstreamName) && !owners.has(upstreamName))
        owners.set(upstreamName, name);
    }
    if (!listed.complete) break;
  }
  return ({ name: server, source }, name) => {
    if (source === 'user') return undefined;
    return naming[kind].aliasOf(server, name) ?? (owners.get(name) === server ? name : undefined);
  };
}

/** Whether a server of the list can have this name as it is: it fits, and the operator gave it to nothing else. */
export function canBeUnprefixed(naming: Naming, kind: NamedKind, server: string, name: string): boolean {
  const aliases = naming[kind];
  if (!isValidAlias(name) || aliases.resolveAlias(name) !== undefined) return false;
  return aliases.aliasOf(server, name) === undefined;
}
