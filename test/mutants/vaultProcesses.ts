import type { Mutant } from '../mutants.ts';

const vault = 'packages/gateway/src/credentials/vault';
const oauth = 'packages/testkit/src/oauth';

export const vaultProcesses: readonly Mutant[] = [
  // Whoever has their turn renews, whatever was stored while they waited for it.
  {
    id: 'vault.r01.storm',
    file: `${vault}/judge.ts`,
    find: 'const isUsable = !isRefused && now < held.usableUntil;',
    replace: 'const isUsable = false;',
  },
  // The refresh token before is kept.
  {
    id: 'vault.r02.rotations',
    file: `${vault}/pair.ts`,
    find: 'refreshToken === undefined ? before.refreshToken : new HiddenText(refreshToken)',
    replace: 'before.refreshToken',
  },
  // A claim that was never settled holds for ever.
  {
    id: 'vault.r05.killed-before-post',
    file: 'packages/stores/src/credentialRules.ts',
    find: '(held.claimOwner === null || (held.claimDeadline ?? 0) <= now)',
    replace: 'held.claimOwner === null',
  },
  // What is in doubt is never sent again.
  {
    id: 'vault.r06.killed-after-post',
    file: `${vault}/attempt.ts`,
    find: 'if (!last || isInGrace(',
    replace: 'if (isInGrace(',
  },
  // What is in doubt is sent again while there is something to lose.
  {
    id: 'vault.r07.killed-while-live',
    file: `${vault}/attempt.ts`,
    find: 'if (!last || isInGrace(view.context, doubtedSince, clock.now())) return null;',
    replace: 'if (view) return null;',
  },
  // It is put aside only when all hope is gone.
  {
    id: 'vault.r15.killed-with-pair',
    file: `${vault}/keepPair.ts`,
    find: '      await putAside(unsaved);\n      throw error;',
    replace: '      throw error;',
  },
  // Only who still has the claim may store the successor.
  {
    id: 'vault.r09.frozen',
    file: `${vault}/savePair.ts`,
    find: 'const record = await store.replace(id, when, patch);\n',
    replace:
      "const record = await store.replace(id, { ...when, claimSeq: consumed.claimSeq }, patch);\n    if (!record) return { kind: 'rotated' };\n",
  },
  // Without an answer of Redis nobody has a turn.
  {
    id: 'vault.r12.redis-down',
    file: `${vault}/turns.ts`,
    find: "return 'unavailable';",
    replace: 'return null;',
  },
  // Everybody goes by their own clock.
  {
    id: 'vault.r21.skew',
    file: `${vault}/storeTime.ts`,
    find: 'now: () => local.now() + offsetMs,',
    replace: 'now: () => local.now(),',
  },
  // What is under way is not waited for.
  {
    id: 'vault.r27.terminated',
    file: `${vault}/createVault.ts`,
    find: 'renewal.idle(), ',
    replace: '',
  },
  // One flight for everybody.
  {
    id: 'vault.v03.own-token',
    file: `${vault}/renewal.ts`,
    find: 'flights.run([id], () => fly(key, refused, false)',
    replace: "flights.run(['all'], () => fly(key, refused, false)",
  },
  // Tokens as they came.
  {
    id: 'vault.v06.secrets',
    file: `${vault}/openTokens.ts`,
    find: 'sealed: keyring.seal(JSON.stringify(payload), credentialContext(record)),',
    replace: 'sealed: JSON.stringify(payload),',
  },
  // Nobody is told.
  {
    id: 'vault.v07.import',
    file: `${vault}/commit.ts`,
    find: '    await notices.publish(record.id);\n',
    replace: '',
  },
  // The teeth of the authorization server.
  {
    id: 'testkit.oauth.reuse',
    file: `${oauth}/grants.ts`,
    find: "    count('reuses');\n    end(family);\n",
    replace: "    count('reuses');\n",
  },
  {
    id: 'testkit.oauth.grace',
    file: `${oauth}/grants.ts`,
    find: 'now() - supersededAt < graceMs && ',
    replace: '',
  },
  {
    id: 'testkit.oauth.consent',
    file: `${oauth}/tokenEndpoint.ts`,
    find: 'code.challenge !== null && ',
    replace: 'code.challenge === null && ',
  },
  {
    id: 'testkit.oauth.clients',
    file: `${oauth}/clientAssertion.ts`,
    find: '  used.add(id);\n',
    replace: '',
  },
  {
    id: 'testkit.oauth.guard',
    file: `${oauth}/guardedMcpServer.ts`,
    find: '!switches.checksAudience || ',
    replace: 'true || ',
  },
];
