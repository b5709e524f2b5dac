import { createOboTrust, type OboTrustParts } from '../src/access/oboTrust.ts';
import type { AuditEvent } from '../src/audit/audit.ts';
import type { ChangeFeed, UserRecord } from '../src/ports/index.ts';
import type { ServerSnapshot, ServerSource } from '../src/definitions/definition.ts';
import { createAccessRig, type AccessRig } from './accessRig.ts';
import { defineServer } from './toolcallRig.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;

/** A server that rests on the word of this person. */
export const authoredBy = (
  userId: string,
  isIntact = true,
  source: ServerSource = 'user',
): ServerSnapshot => ({
  ...defineServer('s', {}, { source, author: 'author' }),
  securityDecision: { decidedBy: userId, isIntact },
});

function createTrust(
  { store, clock }: AccessRig,
  parts: Pick<OboTrustParts, 'roles' | 'changes' | 'authorMaxAgeMs'>,
) {
  let readCount = 0;
  let shouldFail = false;
  /** Stands between the store and the answer. */
  let duringRead: (user: UserRecord | null) => Promise<void> = async () => undefined;
  const findById = async (id: string) => {
    readCount += 1;
    if (shouldFail) throw new Error('down');
    const user = await store.users.findById(id);
    await duringRead(user);
    return user;
  };
  const logged: { event: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const auditNotes: AuditEvent[] = [];
  const trust = createOboTrust({
    ...{ ...parts, users: { findById }, clock },
    log: (event, fields) => void logged.push({ event, fields }),
    audit: { note: (event) => void auditNotes.push(event) },
  });
  return {
    ...{ trust, logged, auditNotes },
    readCount: () => readCount,
    fail: () => void (shouldFail = true),
    setDuringRead: (work: typeof duringRead) => void (duringRead = work),
  };
}

/** Trust over a real store with real roles, and an administrator `root` whose role was given by hand. */
export async function createOboTrustRig(changes?: ChangeFeed) {
  const rig = createAccessRig();
  const gateway = rig.gateway(changes ? { changes } : {});
  await gateway.ready;
  await rig.createUser('root', { role: 'ADMIN' });
  const { roles } = gateway;
  const parts = { roles, changes: changes ?? rig.store.changes, authorMaxAgeMs: 14 * DAY_MS };
  return { ...rig, ...gateway, ...createTrust(rig, parts) };
}

/** The same where days go by: roles that nobody changes need not be read every second of them. */
export async function createAuthorRig(authorMaxAgeMs = 14 * DAY_MS) {
  const rig = createAccessRig();
  await rig.createUser('root', { role: 'ADMIN' });
  const roles = {
    fresh: true,
    readCount: 0,
    /** Somebody changes them all the time: what was read is old when it comes. */
    isChanging: false,
    roleHasPermission: (_tenant: string, role: string) => role === 'ADMIN',
    isFresh: () => roles.fresh,
    refresh: async () => {
      roles.readCount += 1;
      roles.fresh = !roles.isChanging;
    },
  };
  const claimedRole = { role: 'ADMIN', issuer: 'https://idp.example', roleSource: 'claim' } as const;
  await rig.createUser('eve', { ...claimedRole, roleConfirmedAt: rig.clock.now() });
  const rigTrust = createTrust(rig, { roles, changes: rig.store.changes, authorMaxAgeMs });
  return {
    ...{ ...rig, ...rigTrust, claimedRole, roles },
    /** As an administrator does: everybody is told. */
    change: async (id: string, change: Partial<UserRecord>) => {
      await rig.store.users.update(id, change, rig.clock.now());
      await rig.store.changes.publish({ topic: 'users', id });
    },
    /** As a token does that says the same again: nobody is told. */
    confirm: () => rig.store.users.update('eve', { roleConfirmedAt: rig.clock.now() }, rig.clock.now()),
    isTrusted: async (id = 'eve') => rigTrust.trust.isTrusted(authoredBy(id)),
  };
}
