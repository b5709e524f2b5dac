import { type CreatedServerView, checkServerName, normalizeServerName } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import { withAudit } from '../../audit/withAudit.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { StoredServerName } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { withMaintenanceLease } from '../../replication/withLease.ts';
import type { Fields } from '../fields.ts';
import type { StoredDefinition } from '../stored.ts';
import { createFromDraft, matchDraft } from './drafts.ts';
import { type ConfigureParts, type ServerProbe, createConfigEvent } from './editing.ts';
import {
  type ServerNames,
  reauthorizeWriter,
  requireOboPermission,
  requireServerQuota,
} from './permissions.ts';
import { restoreMaskedSecrets } from './secrets.ts';
import { compileInput, requireMaxDepth, requireReachable, toUserServer, withoutNulls } from './validate.ts';
import { toOwnerView } from './view.ts';

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
      withMaintenanceLease(parts, ['servers', owner.tenant, owner.author], async (assertLeaseHeld) => {
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

interface ServerOwner {
  readonly id: string;
  readonly tenant: string;
  readonly author: string;
}

/** A server that may be made. */
interface ValidatedServer {
  readonly owner: ServerOwner;
  readonly definition: Fields;
  readonly settings: ServerSettings;
  /** Null: it has to wait for a user before it can be looked at. */
  readonly probe: ServerProbe | null;
}

/** Everything that can be asked about a server before it is made. Nothing of it is stored. */
export async function validateNewServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  config: Fields,
): Promise<ValidatedServer> {
  const caller = await reauthorizeWriter(parts, principal);
  requireMaxDepth(config);
  // A mask stands for a secret that is known, and of a new server none is.
  const { definition } = restoreMaskedSecrets(withoutNulls(config), {});
  const settings = compileInput('server', definition);
  requireOboPermission(parts, caller, {}, definition);
  const owner = { id: parts.random.id(), tenant: principal.tenant, author: principal.userId };
  requireServerQuota(parts, owner.author, await parts.stored.listNames(owner.tenant));
  const probe = await requireReachable(parts, toUserServer(settings, owner));
  return { owner, definition, settings, probe };
}

/** A name made of a title: lower case, blanks as hyphens, nothing else that would need encoding in a URL. */
function toSlug(title: unknown): string {
  const text = typeof title === 'string' ? title : '';
  const slug = text
    .toLowerCase()
    .trim()
    .replaceAll(/[^a-z0-9\s-]/g, '')
    .replaceAll(/[\s-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return slug === '' ? 'mcp-server' : slug;
}

/** So many that more servers of one title than that are no accident. */
const MAX_NAME_SUFFIX = 10_000;

/**
 * The slug, else the slug with -2, -3 and so on: the first that nobody has and that may be a name. Undefined when there
 * is none: while nobody knows which names are taken, all of them are.
 */
function findFreeName(slug: string, isTaken: (name: string) => boolean): string | undefined {
  for (let count = 1; count <= MAX_NAME_SUFFIX; count += 1) {
    const name = count === 1 ? slug : `${slug}-${count}`;
    if (checkServerName(name) === undefined && !isTaken(name)) return name;
  }
  return undefined;
}

/** Names that read the same in tool names are one. */
export function createNameCheck(
  names: readonly Pick<StoredServerName, 'normalizedName'>[],
): (name: string) => boolean {
  const usedNames = new Set(names.map(({ normalizedName }) => normalizedName));
  return (name) => usedNames.has(normalizeServerName(name));
}
