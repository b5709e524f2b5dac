import type { Mutant } from '../../tools/mutants/mutant.ts';

/** Passwords, sessions and OpenID Connect sign-in. */
export const identity: readonly Mutant[] = [
  {
    id: 'password-hash-that-is-not-sealed',
    file: 'packages/gateway/src/identity/accounts.ts',
    find: 'keyring.open(user.passwordSealed, toPasswordSealContext(user))',
    replace:
      "user.passwordSealed.startsWith('v1.') ? keyring.open(user.passwordSealed, toPasswordSealContext(user)) : user.passwordSealed",
    test: 'packages/gateway/src/identity/accounts.test.ts',
  },
  {
    id: 'session-secret-stored-in-clear',
    file: 'packages/gateway/src/identity/signInSessions.ts',
    find: 'const hash = hashSecret(secret);\n      const now',
    replace: 'const hash = secret;\n      const now',
    test: 'packages/gateway/src/identity/signInSessions.test.ts',
  },
  {
    id: 'setup-link-used-twice',
    file: 'packages/gateway/src/identity/setup.ts',
    find: "if (!(await tickets.consume('setup', hashSecret(secret), clock.now()))) {",
    replace: "if (!(await tickets.isConsumable('setup', hashSecret(secret), clock.now()))) {",
    test: 'packages/gateway/src/identity/setup.test.ts',
  },
  {
    id: 'two-first-administrators',
    file: 'packages/gateway/src/identity/setup.ts',
    find: "accounts.createFirst({ ...account, role: 'ADMIN' })",
    replace: "accounts.create({ ...account, role: 'ADMIN' })",
    test: 'packages/gateway/src/identity/setup.test.ts',
  },
  {
    id: 'password-checked-before-the-attempt-is-counted',
    file: 'packages/gateway/src/identity/passwordSignIn.ts',
    find: 'await requireWithinLimit(accountAtNetwork, MAX_PER_ACCOUNT_AND_ADDRESS);',
    replace:
      'await accounts.authenticate(email, password);\n    await requireWithinLimit(accountAtNetwork, MAX_PER_ACCOUNT_AND_ADDRESS);',
    test: 'packages/gateway/src/identity/passwordSignIn.test.ts',
  },
  {
    id: 'session-cached-after-it-ended',
    file: 'packages/gateway/src/replication/replicatedCache.ts',
    find: '{ value, readAt: startedAt, sequence, isInvalidated }',
    replace: '{ value, readAt: startedAt, sequence, isInvalidated: isInvalidated && sequence < 0 }',
    test: 'packages/gateway/src/identity/callerCache.test.ts',
  },
  {
    id: 'token-signature-not-verified',
    file: 'packages/gateway/src/identity/openid/verifyJwt.ts',
    find: 'const { payload, protectedHeader: header } = await jwtVerify(token, set.find, options);',
    replace:
      "const [h = '', p = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());\n    await set.find(decodeProtectedHeader(token) as never);\n    const { payload, header } = { payload: JSON.parse(p) as { sub?: string; exp?: number; iat?: number }, header: JSON.parse(h) as object as Record<string, unknown> };",
    test: 'packages/gateway/src/identity/openid/bearerVerifier.test.ts',
  },
  {
    id: 'token-verified-with-another-key',
    file: 'packages/gateway/src/identity/openid/verifyJwt.ts',
    find: 'await jwtVerify(token, set.find, options)',
    replace: "await jwtVerify(token, (header, jws) => set.find({ ...header, kid: 'k1' }, jws), options)",
    test: 'packages/gateway/src/identity/openid/bearerVerifier.test.ts',
  },
  {
    id: 'token-cache-key-is-a-prefix',
    file: 'packages/gateway/src/identity/openid/bearer.ts',
    find: 'const hash = hashSecret(token);',
    replace: 'const hash = hashSecret(token.slice(0, 8));',
    test: 'packages/gateway/src/identity/openid/keySource.test.ts',
  },
  {
    id: 'account-found-by-email',
    file: 'packages/gateway/src/identity/openid/provisioning.ts',
    find: 'users.findByIdentity(tenant, issuer, subject)',
    replace:
      "users.list(tenant, { after: null, limit: 100 }).then((all) => all.find(({ email }) => issuer && subject && email !== '') ?? null)",
    test: 'packages/gateway/src/identity/openid/provisioning.test.ts',
  },
  {
    id: 'sign-in-overwrites-a-concurrent-role-change',
    file: 'packages/gateway/src/identity/openid/provisioning.ts',
    find: 'users.update(user.id, next, now, expect)',
    replace: 'users.update(user.id, next, now, expect && {})',
    test: 'packages/gateway/src/identity/openid/provisioning.test.ts',
  },
  {
    id: 'login-state-not-checked',
    file: 'packages/gateway/src/identity/openid/openIdLogin.ts',
    find: 'expectedState: flow.state,',
    replace: 'expectedState: client.skipStateCheck,',
    test: 'packages/gateway/src/identity/openid/openIdLogin.test.ts',
  },
  {
    id: 'id-token-signature-not-verified',
    file: 'packages/gateway/src/identity/openid/openIdLogin.ts',
    find: 'const { claims: id } = await verifyIdToken(idToken);',
    replace:
      "await Promise.resolve(verifyIdToken);\n    const id = decodeJwt(idToken) as never as VerifiedJwt['claims'];",
    test: 'packages/gateway/src/identity/openid/openIdLogin.test.ts',
  },
  {
    id: 'userinfo-overrides-the-id-token',
    file: 'packages/gateway/src/identity/openid/openIdLogin.ts',
    find: '{ ...sources.userinfo, ...id }',
    replace: '{ ...id, ...sources.userinfo }',
    test: 'packages/gateway/src/identity/openid/openIdLogin.test.ts',
  },
  {
    id: 'session-fixation-at-the-login-callback',
    file: 'api/src/routes/oauth/openId.ts',
    find: 'cookie().write(res, session);',
    replace: 'if (cookie().read(req) === null) cookie().write(res, session);',
    test: 'api/src/routes/oauth/openid.test.ts',
  },
];
