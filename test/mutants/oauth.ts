import type { Mutant } from '../../tools/mutants/mutant.ts';

/** Sign-in at authorization servers, and Behalf as an authorization server. */
export const oauth: readonly Mutant[] = [
  {
    id: 'issuer-compared-without-case',
    file: 'packages/gateway/src/credentials/oauth/metadata.ts',
    find: "if (document['issuer'] !== issuer)",
    replace: "if (String(document['issuer']).toLowerCase().replace(/\\/$/, '') !== issuer.toLowerCase())",
    test: 'packages/gateway/src/credentials/oauth/discovery.test.ts',
  },
  {
    id: 'callback-issuer-as-a-prefix',
    file: 'packages/gateway/src/credentials/signin/callback.ts',
    find: 'if (hasIssuerIdentifier) return iss === issuer;',
    replace: 'if (hasIssuerIdentifier) return iss.startsWith(issuer);',
    test: 'packages/gateway/src/credentials/signin/finishFlow.test.ts',
  },
  {
    id: 'browser-secret-without-the-session',
    file: 'packages/gateway/src/credentials/signin/open.ts',
    find: "[flowId, by.via === 'session' ? by.session : null]",
    replace: '[flowId]',
    test: 'packages/gateway/src/credentials/signin/startFlow.test.ts',
  },
  {
    id: 'sign-in-commits-against-any-generation',
    file: 'packages/gateway/src/credentials/signin/start.ts',
    find: 'baseGeneration: previous?.generation ?? 0,',
    replace: 'baseGeneration: 0,',
    test: 'packages/gateway/src/credentials/signin/relogin.test.ts',
  },
  {
    id: 'two-registrations-at-once',
    file: 'packages/gateway/src/credentials/oauth/registration.ts',
    find: '`oauth-client:${oauthClientId(key)}`',
    replace: '`oauth-client:${String(Math.random())}`',
    test: 'packages/gateway/src/credentials/oauth/registration.test.ts',
  },
  {
    id: 'every-origin-is-vouched-for',
    file: 'packages/gateway/src/credentials/oauth/network.ts',
    find: 'fetchFor: (target, issuer) => egress.fetchFor(target.server, originsFor(target, issuer)),',
    replace:
      'fetchFor: (target, issuer) => (url, init) => egress.fetchFor(target.server, [...originsFor(target, issuer), new URL(url).origin])(url, init),',
    test: 'packages/gateway/src/credentials/oauth/configuredOrigins.test.ts',
  },
  {
    id: 'metadata-of-an-unvouched-issuer-cached-for-all',
    file: 'packages/gateway/src/credentials/oauth/metadata.ts',
    find: 'JSON.stringify([audience, isConfigured, issuer])',
    replace: 'JSON.stringify([audience, issuer])',
    test: 'packages/gateway/src/credentials/oauth/configuredOrigins.test.ts',
  },
  {
    id: 'unrelated-host-with-the-same-suffix',
    file: 'packages/gateway/src/credentials/oauth/addresses.ts',
    find: "parent.split('.').length >= 2 && host.endsWith(`.${parent}`)",
    replace: 'host.endsWith(parent)',
    test: 'packages/gateway/src/credentials/oauth/issuerRules.test.ts',
  },
  {
    id: 'one-dpop-key-for-all-sign-ins',
    file: 'packages/gateway/src/credentials/signin/open.ts',
    find: 'dpopKey: createDpopKey(random).reveal()',
    replace:
      'dpopKey: createDpopKey({ ...random, bytes: (length) => new Uint8Array(length).fill(1) }).reveal()',
    test: 'packages/gateway/src/credentials/signin/dpopSignIn.test.ts',
  },
  {
    id: 'consent-of-another-client',
    file: 'packages/gateway/src/identity/authorizationServer/consents.ts',
    find: 'JSON.stringify([tenant, userId, clientId, redirectHost])',
    replace: 'JSON.stringify([tenant, userId, redirectHost, clientId === redirectHost])',
    test: 'test/scenarios/authorizationServerAttacks.test.ts',
    title: 'what was said to one client counts for no other',
  },
  {
    id: 'consent-form-of-another-request',
    file: 'api/src/routes/authorization-server/consent.ts',
    find: '`consent:${uid}:${sessionSecret}`',
    replace: '`consent:${sessionSecret}:${uid === sessionSecret}`',
    test: 'test/scenarios/authorizationServerAttacks.test.ts',
    title: 'a yes that did not come from our page is none',
  },
  {
    id: 'reused-refresh-token-gets-a-second-successor',
    file: 'api/src/routes/authorization-server/openProvider.ts',
    find: 'if (!existing) return;',
    replace: 'if (existing !== undefined) return;',
    test: 'test/scenarios/authorizationServerAttacks.test.ts',
    title: 'get the same successor, and it goes on',
  },
  {
    id: 'client-metadata-fetched-past-the-egress-guard',
    file: 'api/src/routes/authorization-server/providerConfiguration.ts',
    find: 'fetch(url instanceof Request',
    replace: 'globalThis.fetch(url instanceof Request',
    test: 'test/scenarios/authorizationServerClientDocuments.test.ts',
    title: 'nobody makes us ask in private space',
  },
];
