import { createOboTrust, type OboTrustParts } from '../src/access/oboTrust.ts';
import type { AuditEvent } from '../src/audit/audit.ts';
import type { ChangeFeed, UserRecord } from '../src/ports/index.ts';
import type { ServerSnapshot, ServerSource } from '../src/registry/server.ts';
import { createAccessRig, type AccessRig } from './accessRig.ts';
import { define } from './toolcallRig.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;

/** A server that rests on the word of this person. */
export const by = (userId: string, intact = true, source: ServerSource = 'user'): ServerSnapshot => ({
  ...define('s', {}, { source, author: 'author' }),
  securityDecision: { decidedBy: userId, isIntact: intact },
});

function trustOver(
  { store, clock }: AccessRig,
  parts: Pick<OboTrustParts, 'roles' | 'changes' | 'authorMaxAgeMs'>,
) {
  let reads = 0;
  let fails = false;
  /** Stands between the store and the answer. */
  let meanwhile: (user: UserRecord | null) => Promise<void> = async () => undefined;
  const findById = async (id: string) => {
    reads += 1;
    if (fails) throw new Error('down');
    const user = await store.users.findById(id);
    await meanwhile(user);
    return user;
  };
  const told: { event: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const noted: AuditEvent[] = [];
  const trust = createOboTrust({
    ...{ ...parts, users: { findById }, clock },
    log: (event, fields) => void told.push({ event, fields }),
    audit: { note: (event) => void noted.push(event) },
  });
  return {
    ...{ trust, told, noted },
    reads: () => reads,
    fail: () => void (fails = true),
    hold: (work: typeof meanwhile) => void (meanwhile = work),
  };
}

/** Trust over a real store with real roles, and an administrator `root` whose role was given by hand. */
export async function createOboTrustRig(changes?: ChangeFeed) {
  const rig = createAccessRig();
  const gateway = rig.gateway(changes ? { changes } : {});
  await gateway.ready;
  await rig.user('root', { role: 'ADMIN' });
  const { roles } = gateway;
  const parts = { roles, changes: changes ?? rig.store.changes, authorMaxAgeMs: 14 * DAY_MS };
  return { ...rig, ...gateway, ...trustOver(rig, parts) };
}

/** The same where days go by: roles that nobody changes need not be read every second of them. */
export async function createAuthorRig(authorMaxAgeMs = 14 * DAY_MS) {
  const rig = createAccessRig();
  await rig.user('root', { role: 'ADMIN' });
  const roles = {
    fresh: true,
    reads: 0,
    /** Somebody changes them all the time: what was read is old when it comes. */
    isChanging: false,
    roleHasPermission: (_tenant: string, role: string) => role === 'ADMIN',
    isFresh: () => roles.fresh,
    refresh: async () => {
      roles.reads += 1;
      roles.fresh = !roles.isChanging;
    },
  };
  const claimed = { role: 'ADMIN', issuer: 'https://idp.example', roleSource: 'claim' } as const;
  await rig.user('eve', { ...claimed, roleConfirmedAt: rig.clock.now() });
  const over = trustOver(rig, { roles, changes: rig.store.changes, authorMaxAgeMs });
  return {
    ...{ ...rig, ...over, claimed, roles },
    /** As an administrator does: everybody is told. */
    change: async (id: string, change: Partial<UserRecord>) => {
      await rig.store.users.update(id, change, rig.clock.now());
      await rig.store.changes.publish({ topic: 'users', id });
    },
    /** As a token does that says the same again: nobody is told. */
    confirm: () => rig.store.users.update('eve', { roleConfirmedAt: rig.clock.now() }, rig.clock.now()),
    isTrusted: async (id = 'eve') => over.trust.isTrusted(by(id)),
  };
}
