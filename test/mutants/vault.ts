import type { Mutant } from '../../tools/mutants/mutant.ts';

/** The token vault: refresh, claims, leases and sealed tokens. */
export const vault: readonly Mutant[] = [
  {
    id: 'saving-tokens-requires-the-own-claim',
    file: 'packages/gateway/src/credentials/vault/savePair.ts',
    find: 'const when = { generation, rtHash, tokenSeq: current.tokenSeq };',
    replace: 'const when = { generation, rtHash, tokenSeq: current.tokenSeq, claimSeq: consumed.claimSeq };',
    test: 'packages/gateway/src/credentials/vault/vaultDoubt.test.ts',
  },
  {
    id: 'late-loser-marks-the-new-tokens',
    file: 'packages/gateway/src/credentials/vault/refusedRefresh.ts',
    find: 'return store.replace(id, { generation, rtHash, claimSeq }, { ...settled, ...patch });',
    replace: 'return store.replace(id, { generation }, { ...settled, ...patch });',
    test: 'packages/gateway/src/credentials/vault/vaultDoubt.test.ts',
  },
  {
    id: 'refresh-without-the-lease',
    file: 'packages/gateway/src/credentials/vault/renewal.ts',
    find: '    if (!turn) return lookOn(course);\n    try {\n      return await attempt(course);',
    replace: '    try {\n      return await attempt(course);',
    test: 'packages/gateway/src/credentials/vault/vaultRefresh.test.ts',
  },
  {
    id: 'refresh-without-the-claim',
    file: 'packages/gateway/src/credentials/vault/attempt.ts',
    find: "if (!claimed) return { kind: 'busy' };",
    replace:
      'if (!claimed) return refresh({ course, view, claimed: { record, tookOver: false }, last: verdict.last, isInDoubt: false, doubtedSince: 0 }, claimedAt);',
    test: 'packages/gateway/src/credentials/vault/vaultRefresh.test.ts',
  },
  {
    id: 'unrelated-write-discards-new-tokens',
    file: 'packages/gateway/src/credentials/vault/savePair.ts',
    find: 'const record = await store.replace(id, when, patch);',
    replace:
      'const record = (await store.findById(id))?.version === consumed.version ? await store.replace(id, when, patch) : null;',
    test: 'packages/gateway/src/credentials/vault/vaultRefresh.test.ts',
  },
  {
    id: 'disconnect-keeps-the-generation',
    file: 'packages/gateway/src/credentials/vault/disconnect.ts',
    find: '        generation: generation + 1,\n        tokenSeq: 0,',
    replace: '        generation,\n        tokenSeq: 0,',
    test: 'packages/gateway/src/credentials/vault/vaultEnds.test.ts',
  },
  {
    id: 'sealed-tokens-without-their-sequence-number',
    file: 'packages/gateway/src/ports/credentials.ts',
    find: 'binding: [label, canonicalUrl, issuer, clientId, String(of.generation), String(of.tokenSeq)],',
    replace: 'binding: [label, canonicalUrl, issuer, clientId, String(of.generation)],',
    test: 'packages/gateway/src/credentials/vault/vaultBelongs.test.ts',
  },
  {
    id: 'refresh-at-an-endpoint-that-is-not-sealed',
    file: 'packages/gateway/src/credentials/vault/attempt.ts',
    find: 'endpoint: tokens.endpoints.token,',
    replace: "endpoint: claimed.record.endpoints?.token ?? '',",
    test: 'packages/gateway/src/credentials/vault/vaultBelongs.test.ts',
  },
  {
    id: 'refresh-token-hash-without-the-key',
    file: 'packages/gateway/src/credentials/vault/openTokens.ts',
    find: "return createHmac('sha256', Buffer.from(hashKey.reveal(), 'base64url')).update(token).digest('base64url');",
    replace: "return createHmac('sha256', hashKey.toString()).update(token).digest('base64url');",
    test: 'packages/gateway/src/credentials/vault/vaultBelongs.test.ts',
  },
  {
    id: 'pending-tokens-of-an-earlier-grant',
    file: 'packages/gateway/src/credentials/vault/orphanPairs.ts',
    find: 'const pair = JSON.parse(keyring.open(sealed, contextOf(record))) as OrphanPair;\n        return pair.consumed === record.rtHash ? { ...pair, sealed } : undefined;',
    replace:
      'const before = { ...record, generation: record.generation - 1 };\n        const pair = JSON.parse(keyring.open(sealed, contextOf(before))) as OrphanPair;\n        return { ...pair, sealed };',
    test: 'packages/gateway/src/credentials/vault/vaultDoubt.test.ts',
  },
  {
    id: 'commit-reads-the-generation-again',
    file: 'packages/gateway/src/credentials/vault/commit.ts',
    find: '(await store.replace(id, { generation: baseGeneration }, patch)) !== null;',
    replace:
      '(await store.replace(id, { generation: (await store.findById(id))?.generation ?? 0 }, patch)) !== null;',
    test: 'packages/gateway/src/credentials/vault/vaultEnds.test.ts',
  },
  {
    id: 'unsaved-tokens-only-in-memory',
    file: 'packages/gateway/src/credentials/vault/keepPair.ts',
    find: '      await putAside(unsaved);\n      throw error;',
    replace: '      aside.set(unsaved.consumed.id, unsaved);\n      throw error;',
    test: 'packages/gateway/src/credentials/vault/vaultKeeping.test.ts',
  },
  {
    id: 'doubt-is-read-before-the-claim',
    file: 'packages/gateway/src/credentials/vault/attempt.ts',
    find: 'const { rtSuspect, statusAt } = claimed.record;',
    replace: 'const { rtSuspect, statusAt } = record;',
    test: 'packages/gateway/src/credentials/vault/vaultKeeping.test.ts',
  },
  {
    id: 'exclusive-use-ends-with-the-first-in-line',
    file: 'packages/gateway/src/credentials/vault/exclusive.ts',
    find: 'void line.then(() => {',
    replace: 'void mine.then(() => {',
    test: 'packages/gateway/src/credentials/vault/vaultBelongs.test.ts',
  },
  {
    id: 'one-refresh-flight-for-all-credentials',
    file: 'packages/gateway/src/credentials/vault/renewal.ts',
    find: 'flights.run([id], () => fly(key, refused, false)',
    replace: "flights.run(['all'], () => fly(key, refused, false)",
    test: 'test/vault/keeping.test.ts',
    title: 'of a thousand calls of two users at one server, none goes out with the other one’s token',
  },
  {
    id: 'refresh-token-lent-without-the-claim',
    file: 'packages/gateway/src/credentials/vault/lend.ts',
    find: 'const claimed = await store.claim(id, wish);',
    replace: 'const claimed = { record, tookOver: wish.ttlMs < 0 };',
    test: 'packages/gateway/src/credentials/vault/vaultLend.test.ts',
  },
  {
    id: 'refresh-token-of-another-user-lent',
    file: 'packages/gateway/src/identity/openid/loginTokens.ts',
    find: 'await vault.lend(loginKey(of), signal, work)',
    replace: "await vault.lend(loginKey({ ...of, userId: 'u-bob' }), signal, work)",
    test: 'packages/gateway/src/credentials/obo/refreshSubject.test.ts',
  },
  {
    id: 'recovery-returns-the-refused-token',
    file: 'packages/gateway/src/credentials/oauthTokens.ts',
    find: 'const outcome = await vault.recover(key, refused);',
    replace: 'const outcome = await vault.token(key);',
    test: 'test/scenarios/recovery.test.ts',
    title: 'is renewed once, and the call runs once, with the new one',
  },
];
