import type { CredentialGroup, CredentialNeed } from '@behalf/contracts';
import { readLiteralText } from '@behalf/settings';
import { getViewerRights } from '../configure/serverView.ts';
import { canonicalizeUrl } from '../credentials/oauth/canonicalUrl.ts';
import type { Principal } from '../principal/principal.ts';
import { toFields } from '../registry/canonicalFields.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { RunBlockParts } from './parts.ts';
import type { Prerequisite } from './credentialReadiness.ts';

/** What a block waits for at a server. */
export interface BlockPrerequisite {
  readonly block: string;
  /** In a set: the key of the step. */
  readonly step?: string;
  readonly server: ServerSnapshot;
  readonly prerequisite: Prerequisite;
}

/**
 * Each need once, however many blocks wait for it; servers at one address together. In the order of server name, then id: who
 * fills one in finds the others where they were.
 */
export function groupPrerequisites(
  parts: Pick<RunBlockParts, 'acl' | 'registry'>,
  principal: Principal,
  prerequisites: readonly BlockPrerequisite[],
): CredentialGroup[] {
  const groups = new Map<string, { address?: string; needs: Map<string, CredentialNeed> }>();
  const sorted = [...prerequisites].sort(
    (a, b) => compareStrings(a.server.name, b.server.name) || compareStrings(a.server.id, b.server.id),
  );
  for (const { block, step, server, prerequisite } of sorted) {
    const addressKey = getAddressKey(server);
    const group = groups.get(addressKey) ?? { needs: new Map<string, CredentialNeed>() };
    groups.set(addressKey, group);
    const address = findVisibleAddress(parts, principal, server);
    if (address !== undefined) group.address = address;
    const key = JSON.stringify([server.id, prerequisite]);
    const existing = group.needs.get(key);
    if (!existing) {
      group.needs.set(key, {
        ...prerequisite,
        blocks: [block],
        ...(step !== undefined && { steps: [step] }),
      });
    } else {
      if (!existing.blocks.includes(block)) existing.blocks.push(block);
      if (step !== undefined) existing.steps?.push(step);
    }
  }
  return [...groups.values()].map(({ address: groupAddress, needs }) => ({
    ...(groupAddress !== undefined && { address: groupAddress }),
    needs: [...needs.values()],
  }));
}

/** By its canonical address. A process has none, and one with a user's values in it has another for each: they stand alone. */
function getAddressKey({ id, settings }: ServerSnapshot): string {
  const url = settings.type === 'stdio' ? undefined : readLiteralText(settings.url);
  return (url === undefined ? undefined : canonicalizeUrl(url)) ?? JSON.stringify([id]);
}

/** As it was written, to who may know it: what it was filled in with may be a secret of the operator. */
function findVisibleAddress(
  { acl, registry }: Pick<RunBlockParts, 'acl' | 'registry'>,
  principal: Principal,
  server: ServerSnapshot,
): string | undefined {
  if (!getViewerRights(principal, server, acl.getManageBits(principal, server)).isEditor) return undefined;
  const { url } = toFields(registry.origin(server).definition);
  return typeof url === 'string' ? canonicalizeUrl(url) : undefined;
}

function compareStrings(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
