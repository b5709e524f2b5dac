import type { Mutant } from '../../tools/mutants/mutant.ts';

/** Sign-in at authorization servers, and Behalf as an authorization server. */
export const oauth: readonly Mutant[] = [
  {
    id: 'issuer-compared-without-case',
    file: 'packages/gateway/src/credentials/oauth/discovery/authorizationServer.ts',
    find: "if (document['issuer'] !== issuer)",
    replace: "if (String(document['issuer']).toLowerCase().replace(/\\/$/, '') !== issuer.toLowerCase())",
    test: 'packages/gateway/src/credentials/oauth/discovery/discovery.test.ts',
  },
  {
    id: 'callback-issuer-as-a-prefix',
    file: 'packages/gateway/src/credentials/oauth/flows/readCallback.ts',
    find: 'if (isNamed) return iss === issuer;',
    replace: 'if (isNamed) return iss.startsWith(issuer);',
    test: 'packages/gateway/src/credentials/oauth/flows/finishFlow.test.ts',
  },
  {
    id: 'browser-secret-without-the-session',
    file: 'packages/gateway/src/credentials/oauth/flows/openFlow.ts',
    find: "[flowId, by.via === 'session' ? by.session : null]",
    replace: '[flowId]',
    test: 'packages/gateway/src/credentials/oauth/flows/startFlow.test.ts',
  },
  {
    id: 'sign-in-commits-against-any-generation',
    file: 'packages/gateway/src/credentials/oauth/flows/startFlow.ts',
    find: 'baseGeneration: before?.generation ?? 0,',
    replace: 'baseGeneration: 0,',
    test: 'packages/gateway/src/credentials/oauth/flows/relogin.test.ts',
  },
  {
    id: 'two-registrations-at-once',
    file: 'packages/gateway/src/credentials/oauth/registration/dynamicClients.ts',
    find: '`oauth-client:${oauthClientId(key)}`',
    replace: '`oauth-client:${String(Math.random())}`',
    test: 'packages/gateway/src/credentials/oauth/registration/registration.test.ts',
  },
  {
    id: 'every-origin-is-vouched-for',
    file: 'packages/gateway/src/credentials/oauth/oauthNetwork.ts',
    find: 'fetchFor: (target, issuer) => door.fetchFor(target.server, vouched(target, issuer)),',
    replace:
      'fetchFor: (target, issuer) => (url, init) => door.fetchFor(target.server, [...vouched(target, issuer), new URL(url).origin])(url, init),',
    test: 'packages/gateway/src/credentials/oauth/vouchedOrigins.test.ts',
  },
  {
    id: 'metadata-of-an-unvouched-issuer-cached-for-all',
    file: 'packages/gateway/src/credentials/oauth/discovery/metadataCache.ts',
    find: 'JSON.stringify([audience, isVouched, issuer])',
    replace: 'JSON.stringify([audience, issuer])',
    test: 'api/src/network.test.ts',
  },
  {
    id: 'unrelated-host-with-the-same-suffix',
    file: 'packages/gateway/src/credentials/oauth/relatedHosts.ts',
    find: "parent.split('.').length >= 2 && host.endsWith(`.${parent}`)",
    replace: 'host.endsWith(parent)',
    test: 'packages/gateway/src/credentials/oauth/issuerRules.test.ts',
  },
  {
    id: 'one-dpop-key-for-all-sign-ins',
    file: 'packages/gateway/src/credentials/oauth/flows/openFlow.ts',
    find: 'dpopKey: newDpopKey(random).reveal()',
    replace: "dpopKey: dpopKeyOf('one for all').reveal()",
    test: 'packages/gateway/src/credentials/dpop/dpop.test.ts',
  },
  {
    id: 'consent-of-another-client',
    file: 'packages/gateway/src/identity/facade/consents.ts',
    find: 'JSON.stringify([tenant, userId, clientId, redirectHost])',
    replace: 'JSON.stringify([tenant, userId, redirectHost, clientId === redirectHost])',
    test: 'test/scenarios/facadeAttacks.test.ts',
  },
  {
    id: 'consent-form-of-another-request',
    file: 'api/src/facade/asked.ts',
    find: '`consent:${uid}:${sessionSecret}`',
    replace: '`consent:${sessionSecret}:${uid === sessionSecret}`',
    test: 'test/scenarios/facadeAttacks.test.ts',
    title: 'a yes that did not come from our page is none',
  },
  {
    id: 'reused-refresh-token-gets-a-second-successor',
    file: 'api/src/facade/sameSuccessor.ts',
    find: 'if (!first) return;',
    replace: 'if (first !== undefined) return;',
    test: 'test/scenarios/facadeAttacks.test.ts',
    title: 'get the same successor, and it goes on',
  },
  {
    id: 'client-metadata-fetched-past-the-egress-guard',
    file: 'api/src/facade/configuration.ts',
    find: 'fetch(url instanceof Request',
    replace: 'globalThis.fetch(url instanceof Request',
    test: 'test/scenarios/facadeDocuments.test.ts',
  },
];
