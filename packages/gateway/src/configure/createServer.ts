import type { CreatedServerView } from '@behalf/contracts';
import { withLease } from '../access/withLease.ts';
import { withAudit } from '../access/withAudit.ts';
import { matchDraft, createFromDraft } from '../drafts/adoptDraft.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonicalFields.ts';
import type { StoredDefinition } from '../registry/storedServers.ts';
import { createConfigEvent } from './configEvent.ts';
import { reauthorizeWriter } from './reauthorizeWriter.ts';
import { validateNewServer, type ServerOwner } from './validateNewServer.ts';
import { toOwnerView } from './ownerView.ts';
import type { ConfigureParts } from './parts.ts';
import { requireOboPermission } from './requireOboPermission.ts';
import { toUserServer } from './requireReachable.ts';
import { requireServerQuota, type ServerNames } from './requireServerQuota.ts';
import { findFreeName, toSlug, createNameCheck } from './serverSlug.ts';

/** Two creations that want one name meet in the store; the slower one takes the next. */
const MAX_ATTEMPTS = 20;

/** Makes a server of a user. Nothing of it is stored before everything that can be checked has been. */
export function createServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  { config, draft }: { readonly config: Fields; readonly draft?: string | undefined },
): Promise<CreatedServerView> {
  const event = createConfigEvent(principal, { action: 'server.create', door: 'rest' });
  return withAudit(parts.audit, event, async (details) => {
    const { owner, definition, settings } = await validateNewServer(parts, principal, config);
    const draftMatch =
      draft === undefined
        ? undefined
        : await matchDraft(parts.draftParts, principal, draft, toUserServer(settings, owner));
    const { created, isGrantReused } = await createFromDraft(parts.draftParts, draftMatch, (consumeDraftId) =>
      withLease(parts, ['servers', owner.tenant, owner.author], async (assertLeaseHeld) => {
        // All that took its time: what was allowed before may be so no longer.
        requireOboPermission(parts, await reauthorizeWriter(parts, principal), {}, definition);
        const names = await parts.stored.listNames(owner.tenant);
        requireServerQuota(parts, owner.author, names);
        await assertLeaseHeld();
        return insertServer(parts, { ...owner, id: (await consumeDraftId()) ?? owner.id }, definition, names);
      }),
    );
    Object.assign(details, { server: created.name, serverId: created.id });
    await parts.refreshRegistry();
    const view = toOwnerView(settings, created);
    if (draft === undefined) return { result: view, changed: Object.keys(definition).sort() };
    const outcome = isGrantReused ? 'kept' : 'dropped';
    parts.audit.note({ ...event, ...details, kind: 'credential', action: `draft.${outcome}`, outcome: 'ok' });
    return { result: { ...view, draft: outcome }, changed: Object.keys(definition).sort() };
  });
}

/** The owner's rights first: a server that nobody may look after could never be removed. */
async function insertServer(
  { acl, stored, registry }: ConfigureParts,
  owner: ServerOwner,
  definition: Fields,
  names: ServerNames,
): Promise<StoredDefinition> {
  const { tenant, author } = owner;
  let knownNames = names;
  await acl.grantOwner(owner, author);
  try {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      const isTaken = createNameCheck(knownNames);
      const isReserved = (name: string) => registry.isReserved(tenant, name);
      const name = findFreeName(
        toSlug(definition['title']),
        (candidate) => isTaken(candidate) || isReserved(candidate),
      );
      if (name === undefined) break;
      const inserted = await stored.create({ ...owner, name, definition });
      if (inserted !== 'taken') return inserted;
      knownNames = await stored.listNames(tenant);
    }
    throw new GatewayError('STORE_UNAVAILABLE', { detail: 'No free server name was found. Try again.' });
  } catch (error) {
    await acl.removeServer(tenant, owner.id);
    throw error;
  }
}
