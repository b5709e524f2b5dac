import type { Mutant } from '../mutants.ts';

const folder = 'packages/gateway/src/credentials/obo/providers';

export const oboProvidersChoice: readonly Mutant[] = [
  {
    id: 'obo.provider.login',
    file: `${folder}/exchangeForm.ts`,
    find: "settings.isDerived ? 'on_behalf_of' : undefined",
    replace: 'undefined',
  },
  {
    id: 'obo.provider.login',
    file: `${folder}/effectiveSettings.ts`,
    find: 'if (login && !all.has(LOGIN)) all.set(LOGIN, derived(login));',
    replace: 'if (login) all.set(LOGIN, derived(login));',
  },
  {
    id: 'obo.provider.microsoft',
    file: 'packages/settings/src/obo/login.ts',
    find: "parsed?.protocol === 'https:' ? authorities.get(parsed.host) : undefined;",
    replace:
      "parsed?.protocol === 'https:' ? [...authorities.keys()].find((known) => parsed.host.startsWith(known)) : undefined;",
  },
  {
    id: 'obo.provider.microsoft',
    file: 'packages/settings/src/obo/login.ts',
    find: "parsed?.protocol === 'https:' ? authorities.get(parsed.host) : undefined;",
    replace: 'parsed ? authorities.get(parsed.host) : undefined;',
  },
  {
    id: 'obo.provider.chosen',
    file: `${folder}/exchangeProviders.ts`,
    find: 'if (!entry) return undefined;',
    replace: 'if (!entry) return this.find({});',
  },
  {
    id: 'obo.provider.chosen',
    file: `${folder}/exchangeProviders.ts`,
    find: 'made.set(key, provider);',
    replace: '',
  },
  {
    id: 'obo.provider.chosen',
    file: `${folder}/exchangeProviders.ts`,
    find: 'const known = made.get(key);',
    replace: 'const known = made.get(type);',
  },
  {
    id: 'obo.provider.secret-stays',
    file: `${folder}/effectiveSettings.ts`,
    find: 'const inherits = clientId === client?.clientId;',
    replace: 'const inherits = true;',
  },
  {
    id: 'obo.provider.version',
    file: `${folder}/providerParts.ts`,
    find: 'credentialVersion: hashOf([now.credential, manner]),',
    replace: 'credentialVersion: manner,',
  },
  {
    id: 'obo.provider.version',
    file: `${folder}/providerParts.ts`,
    find: 'credentialVersion: hashOf([now.credential, manner]),',
    replace: 'credentialVersion: now.credential,',
  },
  {
    id: 'obo.provider.version',
    file: `${folder}/exchangeProviders.ts`,
    find: '      await Promise.all(read);\n',
    replace: '      await Promise.all(read.slice(0, 0));\n',
  },
  {
    id: 'obo.discovery.cached',
    file: `${folder}/endpointSource.ts`,
    find: 'if (known && clock.now() < known.until) return known.endpoint;',
    replace: '',
  },
  {
    id: 'obo.discovery.cached',
    file: `${folder}/endpointSource.ts`,
    find: 'return flights.run([], () => discover(place), { detached: true });',
    replace: 'return discover(place);',
  },
  {
    id: 'obo.discovery.cached',
    file: `${folder}/endpointSource.ts`,
    find: 'until: begun + LIFETIME_MS',
    replace: 'until: begun + 2 * LIFETIME_MS',
  },
  {
    id: 'obo.discovery.places',
    file: `${folder}/endpointSource.ts`,
    find: '`${origin}/.well-known/oauth-authorization-server${path}`',
    replace: '`${origin}${path}/.well-known/oauth-authorization-server`',
  },
  {
    id: 'obo.discovery.issuer',
    file: `${folder}/endpointSource.ts`,
    find: "if (document['issuer'] !== from) {",
    replace: "if (typeof document['issuer'] !== 'string') {",
  },
  {
    id: 'obo.discovery.plain-http',
    file: `${folder}/endpointSource.ts`,
    find: 'if (!isSafeEndpoint(place)) {',
    replace: "if (place === '') {",
  },
  {
    id: 'obo.discovery.plain-http',
    file: `${folder}/endpointSource.ts`,
    find: '|| (isSecure(from) && !isSecure(url))',
    replace: '',
  },
  {
    id: 'obo.discovery.plain-http',
    file: `${folder}/safeEndpoint.ts`,
    find: "(protocol === 'http:' && isLoopbackHost(hostname))",
    replace: "protocol === 'http:'",
  },
  {
    id: 'obo.discovery.plain-http',
    file: `${folder}/safeEndpoint.ts`,
    find: "if (username !== '' || password !== '') return false;",
    replace: '',
  },
  {
    id: 'obo.discovery.plain-http',
    file: 'packages/contracts/src/config/isLoopbackHost.ts',
    find: '\\[::1\\])$/i',
    replace: '\\[::1\\])/i',
  },
  {
    id: 'obo.discovery.failure',
    file: `${folder}/endpointSource.ts`,
    find: 'if (answer.status !== 200) throw answerFault(',
    replace:
      'if (answer.status === 503) throw fault("away");\n    if (answer.status !== 200) throw answerFault(',
  },
];
