import type { CreatedServerView } from '@behalf/contracts';
import { alone } from '../access/alone.ts';
import { recorded } from '../access/recorded.ts';
import { keepDraft, ofDraft } from '../drafts/keepDraft.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonical.ts';
import type { StoredDefinition } from '../registry/storedServers.ts';
import { configChange } from './configChange.ts';
import { enterWrite } from './enterWrite.ts';
import { judgeNew, type Owner } from './judgeNew.ts';
import { ownerView } from './ownerView.ts';
import type { ConfigureParts } from './parts.ts';
import { requireOboPermission } from './requireOboPermission.ts';
import { asUserServer } from './requireReachable.ts';
import { requireRoom, type Roster } from './requireRoom.ts';
import { freeName, slugOf, takenNames } from './serverSlug.ts';

/** Two creations that want one name meet in the store; the slower one takes the next. */
const MOST_TRIES = 20;

/** Makes a server of a user. Nothing of it is stored before everything that can be checked has been. */
export function createServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  { config, draft }: { readonly config: Fields; readonly draft?: string | undefined },
): Promise<CreatedServerView> {
  const attempt = configChange(principal, { action: 'server.create', door: 'rest' });
  return recorded(parts.audit, attempt, async (trail) => {
    const { owner, definition, settings } = await judgeNew(parts, principal, config);
    const keeping =
      draft === undefined
        ? undefined
        : await keepDraft(parts.keeping, principal, draft, asUserServer(settings, owner));
    const { made, isKept } = await ofDraft(parts.keeping, keeping, (takeId) =>
      alone(parts, ['servers', owner.tenant, owner.author], async (stillAlone) => {
        // All that took its time: what was allowed before may be so no longer.
        requireOboPermission(parts, await enterWrite(parts, principal), {}, definition);
        const roster = await parts.stored.roster(owner.tenant);
        requireRoom(parts, owner.author, roster);
        await stillAlone();
        return insert(parts, { ...owner, id: (await takeId()) ?? owner.id }, definition, roster);
      }),
    );
    Object.assign(trail, { server: made.name, serverId: made.id });
    await parts.refreshed();
    const view = ownerView(settings, made);
    if (draft === undefined) return { result: view, changed: Object.keys(definition).sort() };
    const outcome = isKept ? 'kept' : 'dropped';
    parts.audit.note({ ...attempt, ...trail, kind: 'credential', action: `draft.${outcome}`, outcome: 'ok' });
    return { result: { ...view, draft: outcome }, changed: Object.keys(definition).sort() };
  });
}

/** The owner's rights first: a server that nobody may look after could never be removed. */
async function insert(
  { acl, stored, registry }: ConfigureParts,
  owner: Owner,
  definition: Fields,
  roster: Roster,
): Promise<StoredDefinition> {
  const { tenant, author } = owner;
  let known = roster;
  await acl.grantOwner(owner, author);
  try {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const isTaken = takenNames(known);
      const isOurs = (name: string) => registry.isReserved(tenant, name);
      const name = freeName(slugOf(definition['title']), (wanted) => isTaken(wanted) || isOurs(wanted));
      if (name === undefined) break;
      const created = await stored.create({ ...owner, name, definition });
      if (created !== 'taken') return created;
      known = await stored.roster(tenant);
    }
    throw new GatewayError('STORE_UNAVAILABLE', { detail: 'No free name was found just now. Try again.' });
  } catch (error) {
    await acl.removeServer(tenant, owner.id);
    throw error;
  }
}
