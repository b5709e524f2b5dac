import type { Mutant } from '../mutants.ts';

const folder = 'packages/gateway/src/credentials/obo/providers';

export const oboProviders: readonly Mutant[] = [
  {
    id: 'obo.provider.form-fields',
    file: `${folder}/exchangeForm.ts`,
    find: "['assertion', request.subject.token.reveal()],",
    replace: "['assertion', request.subject.hash],",
  },
  {
    id: 'obo.provider.form-fields',
    file: `${folder}/exchangeForm.ts`,
    find: "...field('requested_token_type', settings.requestedTokenType),",
    replace: '',
  },
  {
    id: 'obo.provider.form-fields',
    file: `${folder}/entraProvider.ts`,
    find: 'scopes: [...request.scopes],',
    replace: "scopes: ['.default'],",
  },
  {
    id: 'obo.provider.form-fields',
    file: `${folder}/entraProvider.ts`,
    find: "clientCapabilities: ['CP1'],",
    replace: '',
  },
  {
    id: 'obo.provider.form-fields',
    file: `${folder}/exchangeForm.ts`,
    find: "settings.isDerived ? 'on_behalf_of' : undefined",
    replace: "'on_behalf_of'",
  },
  {
    id: 'obo.provider.library',
    file: `${folder}/exchangeProviders.ts`,
    find: "if (kind === 'entra') return createEntraProvider(entry);",
    replace: "if (kind === 'entra') return createFormProvider(entry, 'jwt-bearer');",
  },
  {
    id: 'obo.provider.no-library',
    file: `${folder}/entraProvider.ts`,
    find: 'await load().catch(() => {',
    replace: 'await load().catch((error: unknown) => {\n        throw error;',
  },
  {
    id: 'obo.provider.claims',
    file: `${folder}/entraProvider.ts`,
    find: '...(request.claims !== undefined && { claims: request.claims }),',
    replace: '',
  },
  {
    id: 'obo.provider.certificate',
    file: `${folder}/clientCredential.ts`,
    find: "if (parsed && !parsed.checkPrivateKey(key)) thumbprint = '';",
    replace: '',
  },
  {
    id: 'obo.provider.certificate',
    file: `${folder}/clientCredential.ts`,
    find: "version = hashOf(['key', thumbprint ?? '', pkcs8]);",
    replace: '',
  },
  {
    id: 'obo.provider.certificate',
    file: `${folder}/clientCredential.ts`,
    find: '    } catch {\n      // The error may quote what it could not parse.\n      throw fault(',
    replace:
      '    } catch {\n      throw new ExchangeFault("OBO_MISCONFIGURED", { cause: new Error(pem) }) ?? fault(',
  },
  {
    id: 'obo.provider.federated',
    file: `${folder}/clientCredential.ts`,
    find: 'if (!/^[\\x21-\\x7e]+$/.test(text)) throw fault(`${setting} holds no token`);',
    replace: '',
  },
  {
    id: 'obo.provider.federated',
    file: `${folder}/clientCredential.ts`,
    find: 'const source =\n    bySecret ||',
    replace:
      'const kept = new Map<string, string>();\n  const fresh = readText;\n  readText = async (file) => {\n    if (!kept.has(file)) kept.set(file, await fresh(file));\n    return kept.get(file)!;\n  };\n  const source =\n    bySecret ||',
  },
  {
    id: 'obo.provider.stateless',
    file: `${folder}/entraProvider.ts`,
    find: 'const application = new ConfidentialClientApplication({\n          auth,\n          system: { networkClient: network.client, disableInternalRetries: true },\n        });',
    replace:
      'const held = parts as { application?: InstanceType<typeof ConfidentialClientApplication>; now?: typeof network };\n        held.now = network;\n        const application = (held.application ??= new ConfidentialClientApplication({\n          auth,\n          system: {\n            networkClient: {\n              sendPostRequestAsync: (...post) => held.now!.client.sendPostRequestAsync(...post),\n              sendGetRequestAsync: (...get) => held.now!.client.sendGetRequestAsync(...get),\n            },\n          },\n        }));',
  },
  {
    id: 'obo.provider.one-request',
    file: `${folder}/ask.ts`,
    find: "redirect: 'manual',",
    replace: "redirect: 'follow',",
  },
  {
    id: 'obo.provider.one-request',
    file: `${folder}/entraNetwork.ts`,
    find: 'const answer = await made;',
    replace:
      'let answer = await made;\n    if (answer.status >= 500) answer = await ask({ fetch, clock }, url, { method: "POST", headers, body, signal });',
  },
  {
    id: 'obo.provider.endpoint-only',
    file: `${folder}/entraNetwork.ts`,
    find: "throw new Error('not the token endpoint');",
    replace: 'void 0;',
  },
  {
    id: 'obo.provider.endpoint-only',
    file: `${folder}/entraNetwork.ts`,
    find: "if (made) throw new Error('one exchange is one request');",
    replace: '',
  },
  {
    id: 'obo.provider.endpoint-only',
    file: `${folder}/entraNetwork.ts`,
    find: "sendGetRequestAsync: () => Promise.reject(new Error('nothing is fetched')),",
    replace:
      'sendGetRequestAsync: async <T>(url: string) => ({ status: 200, headers: {}, body: {} as T, url }),',
  },
  {
    id: 'obo.provider.endpoint-only',
    file: `${folder}/microsoftAuthority.ts`,
    find: 'url.host = elsewhere[url.host] ?? url.host;',
    replace: '',
  },
  {
    id: 'obo.provider.endpoint-only',
    file: `${folder}/entraProvider.ts`,
    find: 'authorityMetadata: JSON.stringify(metadata),',
    replace: '',
  },
  {
    id: 'obo.provider.tls',
    file: `${folder}/exchangeProviders.ts`,
    find: 'const fetch = fetchFor({ caFile: settings.caFile });',
    replace: 'const fetch = fetchFor({ caFile: undefined });',
  },
  {
    id: 'obo.provider.actor',
    file: `${folder}/actorToken.ts`,
    find: 'version = hashOf([file, actorIn(token)]);',
    replace: 'version = hashOf([file, token]);',
  },
  {
    id: 'obo.provider.actor',
    file: `${folder}/actorToken.ts`,
    find: '      version = hashOf([file, actorIn(token)]);\n',
    replace: '',
  },
  {
    id: 'obo.provider.reserved-fields',
    file: `${folder}/postGrant.ts`,
    find: '    ...Object.fromEntries([...form, ...fields]),\n',
    replace: '    ...Object.fromEntries([...form, ...fields]),\n    ...settings.parameters,\n',
  },
  {
    id: 'obo.provider.reserved-fields',
    file: `${folder}/postGrant.ts`,
    find: '    body: body.toString(),\n',
    replace: '    body: `${body.toString()}&${new URLSearchParams(settings.parameters).toString()}`,\n',
  },
  {
    id: 'obo.provider.client-auth',
    file: `${folder}/clientAuth.ts`,
    find: '`${formEncode(clientId)}:${formEncode(secret)}`',
    replace: '`${clientId}:${secret}`',
  },
  {
    id: 'obo.provider.client-auth',
    file: `${folder}/clientAuth.ts`,
    find: '.setJti(random.id())',
    replace: ".setJti('one')",
  },
  {
    id: 'obo.provider.client-auth',
    file: `${folder}/clientAuth.ts`,
    find: '.setExpirationTime(now + ASSERTION_LIFETIME_S)',
    replace: '.setExpirationTime(now + 60 * ASSERTION_LIFETIME_S)',
  },
  {
    id: 'obo.provider.client-auth',
    file: `${folder}/clientAuth.ts`,
    find: ': { headers: { authorization: basic(clientId, proof.secret) }, fields: [] };',
    replace:
      ": { headers: { authorization: basic(clientId, proof.secret) }, fields: [named, ['client_secret', proof.secret]] };",
  },
  {
    id: 'obo.provider.client-auth',
    file: `${folder}/postGrant.ts`,
    find: "if (!proves(settings, proof)) throw misconfigured('what clientAuth asks for is missing');",
    replace: '',
  },
  {
    id: 'obo.provider.client-auth',
    file: `${folder}/clientCredential.ts`,
    find: 'bySecret || (assertionFile ?? keyFile) === undefined',
    replace: 'bySecret || clientSecret !== undefined || (assertionFile ?? keyFile) === undefined',
  },
];
