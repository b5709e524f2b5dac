import type { CredentialGroup, CredentialNeed } from '@behalf/contracts';
import { literalText } from '@behalf/settings';
import { audienceOf } from '../configure/serverView.ts';
import { canonicalizeUrl } from '../credentials/oauth/canonicalUrl.ts';
import type { Principal } from '../principal/principal.ts';
import { fieldsOf } from '../registry/canonical.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { RunBlockParts } from './parts.ts';
import type { Need } from './standing.ts';

/** What a block waits for at a server. */
export interface Waiting {
  readonly block: string;
  /** In a set: the key of the step. */
  readonly step?: string;
  readonly server: ServerSnapshot;
  readonly need: Need;
}

/**
 * Each need once, however many blocks wait for it; servers at one address together. In the order of server name, then id: who
 * fills one in finds the others where they were.
 */
export function groupNeeds(
  parts: Pick<RunBlockParts, 'acl' | 'registry'>,
  principal: Principal,
  waiting: readonly Waiting[],
): CredentialGroup[] {
  const groups = new Map<string, { address?: string; needs: Map<string, CredentialNeed> }>();
  const inOrder = [...waiting].sort(
    (a, b) => compare(a.server.name, b.server.name) || compare(a.server.id, b.server.id),
  );
  for (const { block, step, server, need } of inOrder) {
    const place = placeOf(server);
    const group = groups.get(place) ?? { needs: new Map<string, CredentialNeed>() };
    groups.set(place, group);
    const shown = shownAddress(parts, principal, server);
    if (shown !== undefined) group.address = shown;
    const key = JSON.stringify([server.id, need]);
    const known = group.needs.get(key);
    if (!known) {
      group.needs.set(key, { ...need, blocks: [block], ...(step !== undefined && { steps: [step] }) });
    } else {
      if (!known.blocks.includes(block)) known.blocks.push(block);
      if (step !== undefined) known.steps?.push(step);
    }
  }
  return [...groups.values()].map(({ address, needs }) => ({
    ...(address !== undefined && { address }),
    needs: [...needs.values()],
  }));
}

/** By its canonical address. A process has none, and one with a user's values in it has another for each: they stand alone. */
function placeOf({ id, settings }: ServerSnapshot): string {
  const url = settings.type === 'stdio' ? undefined : literalText(settings.url);
  return (url === undefined ? undefined : canonicalizeUrl(url)) ?? JSON.stringify([id]);
}

/** As it was written, to who may know it: what it was filled in with may be a secret of the operator. */
function shownAddress(
  { acl, registry }: Pick<RunBlockParts, 'acl' | 'registry'>,
  principal: Principal,
  server: ServerSnapshot,
): string | undefined {
  if (!audienceOf(principal, server, acl.manageBits(principal, server)).isEditor) return undefined;
  const { url } = fieldsOf(registry.origin(server).definition);
  return typeof url === 'string' ? canonicalizeUrl(url) : undefined;
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
