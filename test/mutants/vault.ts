import type { Mutant } from '../../tools/mutants/mutant.ts';

/** The token vault: refresh, claims, leases and sealed tokens. */
export const vault: readonly Mutant[] = [
  {
    id: 'saving-tokens-requires-the-own-claim',
    file: 'packages/gateway/src/credentials/vault/persist.ts',
    find: 'const expected = { generation, rtHash, tokenSeq: current.tokenSeq };',
    replace:
      'const expected = { generation, rtHash, tokenSeq: current.tokenSeq, claimSeq: consumedRecord.claimSeq };',
    test: 'packages/gateway/src/credentials/vault/refreshInDoubt.test.ts',
  },
  {
    id: 'late-loser-marks-the-new-tokens',
    file: 'packages/gateway/src/credentials/vault/claim.ts',
    find: 'return store.replace(id, { generation, rtHash, claimSeq }, { ...clearedClaim, ...patch });',
    replace: 'return store.replace(id, { generation }, { ...clearedClaim, ...patch });',
    test: 'packages/gateway/src/credentials/vault/refreshInDoubt.test.ts',
  },
  {
    id: 'refresh-without-the-lease',
    file: 'packages/gateway/src/credentials/vault/refresh.ts',
    find: '    if (!lease) return checkWithoutLease(refreshContext);\n    try {\n      return await refreshOnce(refreshContext);',
    replace: '    try {\n      return await refreshOnce(refreshContext);',
    test: 'packages/gateway/src/credentials/vault/vaultRefresh.test.ts',
  },
  {
    id: 'refresh-without-the-claim',
    file: 'packages/gateway/src/credentials/vault/refreshOnce.ts',
    find: "if (!claim) return { kind: 'busy' };",
    replace:
      'if (!claim) return sendClaimed({ refreshContext, snapshot, claim: { record, owner, claimedAt: localClock.now(), tookOver: false, isInDoubt: false, inDoubtSince: 0 }, fallback });',
    test: 'packages/gateway/src/credentials/vault/vaultRefresh.test.ts',
  },
  {
    id: 'unrelated-write-discards-new-tokens',
    file: 'packages/gateway/src/credentials/vault/persist.ts',
    find: 'const record = await store.replace(id, expected, patch);',
    replace:
      'const record = (await store.findById(id))?.version === consumedRecord.version ? await store.replace(id, expected, patch) : null;',
    test: 'packages/gateway/src/credentials/vault/vaultRefresh.test.ts',
  },
  {
    id: 'disconnect-keeps-the-generation',
    file: 'packages/gateway/src/credentials/vault/revoke.ts',
    find: '          generation: generation + 1,\n          tokenSeq: 0,',
    replace: '          generation,\n          tokenSeq: 0,',
    test: 'packages/gateway/src/credentials/vault/credentialRemoval.test.ts',
  },
  {
    id: 'sealed-tokens-without-their-sequence-number',
    file: 'packages/gateway/src/ports/credentials.ts',
    find: 'binding: [\n      label,\n      canonicalUrl,\n      issuer,\n      clientId,\n      String(credential.generation),\n      String(credential.tokenSeq),\n    ],',
    replace: 'binding: [label, canonicalUrl, issuer, clientId, String(credential.generation)],',
    test: 'packages/gateway/src/credentials/vault/credentialBinding.test.ts',
  },
  {
    id: 'refresh-at-an-endpoint-that-is-not-sealed',
    file: 'packages/gateway/src/credentials/vault/refreshOnce.ts',
    find: 'endpoint: tokens.endpoints.token,',
    replace: "endpoint: claimed.record.endpoints?.token ?? '',",
    test: 'packages/gateway/src/credentials/vault/credentialBinding.test.ts',
  },
  {
    id: 'refresh-token-hash-without-the-key',
    file: 'packages/gateway/src/credentials/vault/tokenPair.ts',
    find: "return createHmac('sha256', Buffer.from(hashKey.reveal(), 'base64url')).update(token).digest('base64url');",
    replace: "return createHmac('sha256', hashKey.toString()).update(token).digest('base64url');",
    test: 'packages/gateway/src/credentials/vault/credentialBinding.test.ts',
  },
  {
    id: 'pending-tokens-of-an-earlier-grant',
    file: 'packages/gateway/src/credentials/vault/persist.ts',
    find: 'const pendingTokens = JSON.parse(keyring.open(sealed, toSealContext(record))) as PendingTokens;\n        return pendingTokens.consumedHash === record.rtHash ? { ...pendingTokens, sealed } : undefined;',
    replace:
      'const before = { ...record, generation: record.generation - 1 };\n        const pendingTokens = JSON.parse(keyring.open(sealed, toSealContext(before))) as PendingTokens;\n        return { ...pendingTokens, sealed };',
    test: 'packages/gateway/src/credentials/vault/refreshInDoubt.test.ts',
  },
  {
    id: 'commit-reads-the-generation-again',
    file: 'packages/gateway/src/credentials/vault/commit.ts',
    find: '(await store.replace(id, { generation: baseGeneration }, patch)) !== null;',
    replace:
      '(await store.replace(id, { generation: (await store.findById(id))?.generation ?? 0 }, patch)) !== null;',
    test: 'packages/gateway/src/credentials/vault/credentialRemoval.test.ts',
  },
  {
    id: 'unsaved-tokens-only-in-memory',
    file: 'packages/gateway/src/credentials/vault/persist.ts',
    find: '      await storePendingOnce(pendingWrite);\n      throw error;',
    replace: '      pendingWrites.set(pendingWrite.consumedRecord.id, pendingWrite);\n      throw error;',
    test: 'packages/gateway/src/credentials/vault/persistTokens.test.ts',
  },
  {
    id: 'doubt-is-read-before-the-claim',
    file: 'packages/gateway/src/credentials/vault/claim.ts',
    find: 'const { rtSuspect, statusAt } = claimed.record;',
    replace: 'const { rtSuspect, statusAt } = record;',
    test: 'packages/gateway/src/credentials/vault/persistTokens.test.ts',
  },
  {
    id: 'exclusive-use-ends-with-the-first-in-line',
    file: 'packages/kernel/src/concurrency.ts',
    find: 'void tail.then(() => {',
    replace: 'void finished.then(() => {',
    test: 'packages/gateway/src/credentials/vault/credentialBinding.test.ts',
  },
  {
    id: 'one-refresh-flight-for-all-credentials',
    file: 'packages/gateway/src/credentials/vault/refresh.ts',
    find: 'flights.run([id], () => startRenewal(key, refusedToken, false)',
    replace: "flights.run(['all'], () => startRenewal(key, refusedToken, false)",
    test: 'test/vault/tokenIsolation.test.ts',
    title: 'of a thousand calls of two users at one server, none goes out with the other one’s token',
  },
  {
    id: 'refresh-token-lent-without-the-claim',
    file: 'packages/gateway/src/credentials/vault/borrow.ts',
    find: 'const claim = await claimRefreshToken(core, record, rtHash, random.id(), readAt);',
    replace:
      'const claim = { record, owner: rtHash, claimedAt: localClock.now(), tookOver: false, isInDoubt: false, inDoubtSince: readAt };',
    test: 'packages/gateway/src/credentials/vault/withRefreshToken.test.ts',
  },
  {
    id: 'refresh-token-of-another-user-lent',
    file: 'packages/gateway/src/identity/openid/loginTokens.ts',
    find: 'await vault.withRefreshToken(loginCredentialKey(loginSession), signal, work)',
    replace:
      "await vault.withRefreshToken(loginCredentialKey({ ...loginSession, userId: 'u-bob' }), signal, work)",
    test: 'packages/gateway/src/credentials/obo/refreshSubject.test.ts',
  },
  {
    id: 'recovery-returns-the-refused-token',
    file: 'packages/gateway/src/credentials/oauthTokens.ts',
    find: 'const outcome = await vault.recover(key, refusedToken);',
    replace: 'const outcome = await vault.token(key);',
    test: 'test/scenarios/recovery.test.ts',
    title: 'is renewed once, and the call runs once, with the new one',
  },
];
