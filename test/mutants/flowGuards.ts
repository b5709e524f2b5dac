import type { Mutant } from '../mutants.ts';

/** Whose tokens go where, and which addresses a server may lead us to. */
export const flowGuards: readonly Mutant[] = [
  {
    id: 'flow.start.times',
    file: 'packages/gateway/src/credentials/oauth/flows/startFlow.ts',
    find: 'removeAt: now + Math.max(toldMs, pendingMs + EXCHANGE_MS),',
    replace: 'removeAt: now + toldMs,',
  },
  {
    id: 'flow.start.times',
    file: 'packages/gateway/src/credentials/oauth/discovery/askChallenge.ts',
    find: 'clock.timer(parts.patienceMs,',
    replace: 'clock.timer(5_000,',
  },
  {
    id: 'flow.discovery.bounded',
    file: 'packages/gateway/src/credentials/oauth/discovery/protectedResource.ts',
    find: 'scopes: scopeNames(scopes),',
    replace: 'scopes: textsOf(scopes),',
  },
  {
    id: 'flow.discovery.bounded',
    file: 'packages/gateway/src/credentials/oauth/discovery/discovery.ts',
    find: 'challengedScope: scopeText(challenge?.scope),',
    replace: 'challengedScope: challenge?.scope,',
  },
  {
    id: 'flow.discovery.bounded',
    file: 'packages/gateway/src/credentials/oauth/discovery/scopeNames.ts',
    find: "&& names.join(' ').length <= LONGEST_TEXT",
    replace: '',
  },
  {
    id: 'flow.rules.asked',
    file: 'packages/gateway/src/credentials/oauth/issuerRules.ts',
    find: '(authorizationUrl ?? tokenUrl) !== undefined',
    replace: '(authorizationUrl ?? tokenUrl ?? target.oauth.revocationUrl) !== undefined',
  },
  {
    id: 'flow.f02.resource',
    file: 'packages/gateway/src/credentials/oauth/discovery/protectedResource.ts',
    find: '...(target.isOperators && url === `${origin}${PLACE}` ? [origin] : []),',
    replace: '...(url === `${origin}${PLACE}` ? [origin] : []),',
  },
  {
    id: 'flow.f02.resource',
    file: 'packages/gateway/src/credentials/oauth/discovery/resourceRule.ts',
    find: '(target.isOperators && sent === originOf(target.canonicalUrl))',
    replace: 'sent === originOf(target.canonicalUrl)',
  },
  {
    id: 'flow.start.authorize',
    file: 'packages/gateway/src/credentials/oauth/flows/authorizeUrl.ts',
    find: '} else for (const name of reserved) url.searchParams.delete(name);',
    replace: '}',
  },
  {
    id: 'flow.f04.pkce',
    file: 'packages/gateway/src/credentials/oauth/discovery/configuredServer.ts',
    find: "challengeMethods: target.isOperators ? (plain.code_challenge_methods_supported ?? ['S256']) : null,",
    replace: "challengeMethods: plain.code_challenge_methods_supported ?? ['S256'],",
  },
  {
    id: 'flow.f04.pkce',
    file: 'packages/gateway/src/credentials/oauth/discovery/discovery.ts',
    find: 'found?.tokenEndpoint === as.tokenEndpoint &&',
    replace: 'found !== null &&',
  },
  {
    id: 'flow.f15.audience',
    file: 'packages/gateway/src/credentials/oauth/flows/startFlow.ts',
    find: '  requireAudience(target, resource, scopes);\n',
    replace: '',
  },
  {
    id: 'flow.f15.audience',
    file: 'packages/gateway/src/credentials/oauth/discovery/requireAudience.ts',
    find: '!meant.every(',
    replace: '!meant.some(',
  },
  {
    id: 'flow.f15.audience',
    file: 'packages/gateway/src/credentials/oauth/discovery/resourceRule.ts',
    find: "isMeant && omitsResource(book, issuer) ? 'omit' : 'send'",
    replace: "omitsResource(book, issuer) ? 'omit' : 'send'",
  },
  {
    id: 'flow.rules.written',
    file: 'packages/gateway/src/credentials/oauth/operatorIssuers.ts',
    find: 'urls: [...servers().flatMap(writtenPlaces), ',
    replace:
      'urls: [...servers().filter((server) => commonTarget(server) !== undefined).flatMap(writtenPlaces), ',
  },
  {
    id: 'flow.rules.written',
    file: 'packages/gateway/src/credentials/oauth/writtenPlaces.ts',
    find: 'const whole = firstValue === -1 ?',
    replace: 'const whole = firstValue !== -1 ? undefined : firstValue === -1 ?',
  },
  {
    id: 'flow.rules.written',
    file: 'packages/gateway/src/credentials/oauth/signInTarget.ts',
    find: 'return fill(server, new Filling({}));',
    replace: 'return signInTargetOf(server, {});',
  },
  {
    id: 'flow.rules.places',
    file: 'packages/gateway/src/credentials/oauth/operatorIssuers.ts',
    find: 'return [...asked, ...providers];',
    replace: 'return [...asked, ...providers.slice(0, 0)];',
  },
  {
    id: 'flow.rules.places',
    file: 'packages/gateway/src/credentials/oauth/issuerRules.ts',
    find: 'const guarded = [...named, ...named.flatMap((url) => endpointOriginsOf(book(), url))];',
    replace: 'const guarded = named;',
  },
  {
    id: 'flow.rules.places',
    file: 'packages/gateway/src/credentials/oauth/createOAuth.ts',
    find: "servers: () => servers.all().filter(({ source }) => source === 'yaml'),",
    replace:
      "servers: () => servers.all().filter(({ name }) => servers.get('default', name)?.source === 'yaml'),",
  },
  {
    id: 'flow.rules.places',
    file: 'api/src/identityIssuers.ts',
    find: 'return ENDPOINTS.map((name) => document[name])',
    replace: 'return [document.issuer]',
  },
  {
    id: 'flow.rules.unknown',
    file: 'packages/gateway/src/credentials/oauth/operatorIssuers.ts',
    find: 'isComplete: answers.every((urls) => urls !== null),',
    replace: 'isComplete: true,',
  },
  {
    id: 'flow.rules.unknown',
    file: 'packages/gateway/src/credentials/oauth/operatorIssuers.ts',
    find: '    const urls = await lastAnswer(key);\n',
    replace: '    const urls = null;\n',
  },
  {
    id: 'flow.rules.unknown',
    file: 'packages/gateway/src/credentials/oauth/issuerRules.ts',
    find: "urls.every((url) => areRelatedHosts(hostOf(url), own)) ? 'free' : 'unknown'",
    replace: "urls.every((url) => hostOf(url) !== own) ? 'free' : 'unknown'",
  },
  {
    id: 'flow.rules.in-use',
    file: 'packages/gateway/src/credentials/oauth/discovery/discovery.ts',
    find: 'return [(await serverOf(target, published)).issuer];',
    replace: 'return published?.authorizationServers ?? [];',
  },
  {
    id: 'flow.rules.vouched',
    file: 'packages/gateway/src/credentials/oauth/oauthNetwork.ts',
    find: 'fetchFor: (target, issuer) => door.fetchFor(target.server, vouched(target, issuer)),',
    replace:
      'fetchFor: (target, issuer) => (url, init) => door.fetchFor(target.server, [...vouched(target, issuer), new URL(url).origin])(url, init),',
  },
  {
    id: 'flow.rules.vouched',
    file: 'packages/gateway/src/credentials/oauth/vouchedOrigins.ts',
    find: 'const listed = entryOf(book, issuer) ?',
    replace: 'const listed = issuer ?',
  },
  {
    id: 'flow.rules.vouched',
    file: 'packages/gateway/src/credentials/oauth/discovery/metadataCache.ts',
    find: 'JSON.stringify([audience, isVouched, issuer])',
    replace: 'JSON.stringify([audience, issuer])',
  },
  {
    id: 'flow.rules.vouched',
    file: 'packages/gateway/src/credentials/oauth/discovery/discovery.ts',
    find: 'as: withOwnKeys(target, as),',
    replace: 'as,',
  },
  {
    id: 'flow.rules.vouched',
    file: 'api/src/network.ts',
    find: 'if (!vouched.includes(to)) return other(url, init);',
    replace: '',
  },
  {
    id: 'flow.rules.vouched',
    file: 'api/src/network.ts',
    find: 'isVouched ? audience : UNVOUCHED',
    replace: 'isVouched ? audience : audience',
  },
  {
    id: 'flow.f02.resource',
    file: 'packages/gateway/src/credentials/oauth/discovery/protectedResource.ts',
    find: 'url === `${origin}${PLACE}` ? [origin] : []',
    replace: 'url ? [origin] : []',
  },
  {
    id: 'flow.f04.pkce',
    file: 'packages/gateway/src/credentials/oauth/discovery/discovery.ts',
    find: 'if (isWaived || assumesS256(book(), as.issuer) ||',
    replace: 'if (isWaived || !as.challengeMethods || assumesS256(book(), as.issuer) ||',
  },
  {
    id: 'registry.sign-in.transports',
    file: 'packages/gateway/src/registry/couldSignIn.ts',
    find: "  if (settings.type === 'websocket') return false;\n",
    replace: '',
  },
  {
    id: 'settings.websocket.no-sign-in',
    file: 'packages/contracts/src/config/serverRules.ts',
    find: "  if (requiresOAuth === true) add('requiresOAuth');\n",
    replace: '',
  },
];
