import type { Mutant } from '../../tools/mutants/mutant.ts';

/** Roles, sharing and the trust in the author of a server. */
export const access: readonly Mutant[] = [
  {
    id: 'roles-of-another-tenant',
    file: 'packages/gateway/src/access/roles.ts',
    find: 'tenants.get(tenant)?.get(role)',
    replace: '[...tenants.values()][0]?.get(role)',
    test: 'packages/gateway/src/access/roleAdmin.test.ts',
  },
  {
    id: 'role-changes-without-mutual-exclusion',
    file: 'packages/gateway/src/replication/withLease.ts',
    find: 'key: JSON.stringify(key), purpose',
    replace: 'key: JSON.stringify([key, Math.random()]), purpose',
    test: 'packages/gateway/src/access/roleAdmin.test.ts',
  },
  {
    id: 'permission-change-before-its-audit-event',
    file: 'packages/gateway/src/audit/withAudit.ts',
    find: "await audit.record({ ...event, ...details, outcome: 'ok', changed });",
    replace: "audit.note({ ...event, ...details, outcome: 'ok', changed });",
    test: 'packages/gateway/src/access/roleAdmin.test.ts',
  },
  {
    id: 'sharing-decided-by-permissions-from-before-the-wait',
    file: 'packages/gateway/src/access/shareResource.ts',
    find: 'const current = await authorize();',
    replace: 'const current = initial;',
    test: 'packages/gateway/src/access/shareServer.test.ts',
  },
  {
    id: 'role-change-ignores-a-concurrent-one',
    file: 'packages/gateway/src/access/userAdmin.ts',
    find: 'users.update(id, change, clock.now(), { role, roleSource })',
    replace: 'users.update(id, change, clock.now())',
    test: 'packages/gateway/src/access/userAdmin.test.ts',
  },
  {
    id: 'lease-not-checked-before-the-write',
    file: 'packages/gateway/src/replication/withLease.ts',
    find: 'if (!(await lease.extend())) throw createBusyError();',
    replace: 'await lease.extend();',
    test: 'packages/gateway/src/access/userAdmin.test.ts',
  },
  {
    id: 'notice-during-a-read-is-lost',
    file: 'packages/gateway/src/replication/replicatedValue.ts',
    find: 'readEpoch = epochBefore;',
    replace: 'readEpoch = changeEpoch;',
    test: 'packages/gateway/src/replication/replicatedValue.test.ts',
  },
  {
    id: 'trust-keeps-the-previous-author',
    file: 'packages/gateway/src/servers/stored.ts',
    find: 'securedColumns: {\n      securedBy: changedBy,\n      securedAt: now,\n      securedHash: hashSecurityDecision(changedBy, definition),\n    },',
    replace:
      'securedColumns: { securedAt: now, securedHash: hashSecurityDecision(current?.securityDecision.decidedBy ?? changedBy, definition) },',
    test: 'test/scenarios/oboTable.test.ts',
    title: 'trust follows who decided last, and nobody else',
  },
  {
    id: 'secrets-of-a-server-moved-to-another-host',
    file: 'packages/gateway/src/servers/secrets.ts',
    find: 'headers: transportFields,',
    replace: 'headers: [],',
    test: 'packages/gateway/src/servers/update.test.ts',
  },
  {
    id: 'value-written-during-removal-is-kept',
    file: 'packages/gateway/src/servers/stored.ts',
    find: '      await removeUserValues(tenant, id);\n      const removed = await servers.remove(tenant, id);\n      await removeUserValues(tenant, id);\n',
    replace: '      const removed = await servers.remove(tenant, id);\n',
    test: 'packages/gateway/src/servers/remove.test.ts',
  },
  {
    id: 'server-created-with-a-revoked-role',
    file: 'packages/gateway/src/servers/create.ts',
    find: 'requireOboPermission(parts, await reauthorizeWriter(parts, principal), {}, definition)',
    replace: 'requireOboPermission(parts, principal, {}, definition)',
    test: 'packages/gateway/src/servers/create.test.ts',
  },
  {
    id: 'credential-choice-of-another-user',
    file: 'packages/gateway/src/credentials/credentialSelector.ts',
    find: 'const cacheKey = JSON.stringify([tenant, holder, serverId]);',
    replace: 'const cacheKey = JSON.stringify([tenant, serverId]);',
    test: 'test/scenarios/blocksRun.test.ts',
    title: '200 runs of two users at once, each with their own token alone',
  },
];
