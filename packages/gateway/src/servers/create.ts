import { type CreatedServerView, checkServerName, normalizeServerName } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import { withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { StoredServerName } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { withMaintenanceLease } from '../replication/withLease.ts';
import type { UserServer } from '../definitions/definition.ts';
import { createFromDraft, matchDraft } from './drafts.ts';
import { type ConfigureParts, createConfigEvent } from './editing.ts';
import { type Fields, withoutNulls } from './fields.ts';
import { reauthorizeWriter, requireOboPermission, requireServerQuota } from './permissions.ts';
import { restoreMaskedSecrets } from './secrets.ts';
import type { StoredDefinition } from './stored.ts';
import { compileInput, requireMaxDepth, requireReachable, toUserServer } from './validate.ts';
import { toOwnerView } from './view.ts';

/** Creates a user's server. Stores nothing before all checks pass. */
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
        // The probe takes time, so permissions and quota are checked again under the lease.
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
    const changed = Object.keys(definition).sort();
    if (draft === undefined) return { result: view, changed };
    const outcome = isGrantReused ? 'kept' : 'dropped';
    parts.audit.note({ ...event, ...details, kind: 'credential', action: `draft.${outcome}`, outcome: 'ok' });
    return { result: { ...view, draft: outcome }, changed };
  });
}

/** Two creations can choose the same name. The store rejects the second one, which then tries the next name. */
const MAX_ATTEMPTS = 20;

/** Grants the owner's rights first: without them, only an administrator could remove the server after a failure. */
async function insertServer(
  { acl, stored, registry }: ConfigureParts,
  owner: ServerOwner,
  definition: Fields,
  names: readonly StoredServerName[],
): Promise<StoredDefinition> {
  const { tenant, author } = owner;
  let knownNames = names;
  await acl.grantOwner(owner, author);
  try {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      const isTaken = createNameCheck(knownNames);
      const name = findFreeName(
        toSlug(definition['title']),
        (candidate) => isTaken(candidate) || registry.isReserved(tenant, candidate),
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

/** The result of all checks that precede the creation of a server. */
interface ValidatedServer<P> {
  readonly owner: ServerOwner;
  readonly definition: Fields;
  readonly settings: ServerSettings;
  /** Null if the server cannot be probed without a user. */
  readonly probe: P | null;
}

/** Runs all checks for a new server, including the probe. Stores nothing. */
export async function validateNewServer<P>(
  parts: Omit<ConfigureParts, 'inspect'> & { readonly inspect: (server: UserServer) => Promise<P> },
  principal: UserPrincipal,
  config: Fields,
): Promise<ValidatedServer<P>> {
  const caller = await reauthorizeWriter(parts, principal);
  requireMaxDepth(config);
  // A new server has no stored secrets, so this rejects every mask.
  const { definition } = restoreMaskedSecrets(withoutNulls(config), {});
  const settings = compileInput('server', definition);
  requireOboPermission(parts, caller, {}, definition);
  const owner = { id: parts.random.id(), tenant: principal.tenant, author: principal.userId };
  requireServerQuota(parts, owner.author, await parts.stored.listNames(owner.tenant));
  const probe = await requireReachable(parts, toUserServer(settings, owner));
  return { owner, definition, settings, probe };
}

/** A name derived from the title that needs no URL encoding. */
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

const MAX_NAME_SUFFIX = 10_000;

/** The slug, or the slug with the first suffix (-2, -3, ...) that gives a free, valid name. Undefined if there is none. */
function findFreeName(slug: string, isTaken: (name: string) => boolean): string | undefined {
  for (let count = 1; count <= MAX_NAME_SUFFIX; count += 1) {
    const name = count === 1 ? slug : `${slug}-${count}`;
    if (checkServerName(name) === undefined && !isTaken(name)) return name;
  }
  return undefined;
}

/** Compares normalized names: tool names contain them, so names with equal normal forms are ambiguous. */
export function createNameCheck(
  names: readonly Pick<StoredServerName, 'normalizedName'>[],
): (name: string) => boolean {
  const usedNames = new Set(names.map(({ normalizedName }) => normalizedName));
  return (name) => usedNames.has(normalizeServerName(name));
}
