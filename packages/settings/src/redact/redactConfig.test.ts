import { Config, McpServer, secretMask, unusedSections } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { loadSettings } from '../loadSettings.ts';
import { maskAddress, maskArguments } from './maskText.ts';
import { redactConfig } from './redactConfig.ts';

type Step = string | number;

/**
 * All that is shown as it is written, by the last words of its path. A key that the schema gets is hidden until somebody
 * decides otherwise, here and in the rules.
 */
const shownKeys = new Set(
  `version unknownKeys
  type title description startup timeout initTimeout sseReadTimeout chatMenu serverInstructions requiresOAuth auth
  exclusive trustAnnotations idempotentTools era relay stderr cwd caFile command
  apiKey.source apiKey.authorization_type apiKey.custom_header
  oauth.client_id oauth.scope oauth.token_exchange_method oauth.grant_types_supported
  oauth.token_endpoint_auth_methods_supported oauth.response_types_supported oauth.code_challenge_methods_supported
  oauth.skip_code_challenge_check oauth.audience oauth.forward_audience_on_refresh
  oauth.revocation_endpoint_auth_methods_supported oauth.resource oauth.legacyAuthDiscovery oauth.grant
  oauth.private_key_file oauth.private_key_id oauth.private_key_alg oauth.authorize_params.* oauth.dpop
  issuers.*.profile issuers.*.pkce issuers.*.resource issuers.*.rotationGraceSeconds issuers.*.revokeOnReplace
  issuers.*.clientAssertionAudience
  obo.scopes obo.provider obo.grant obo.audience obo.resource
  customUserVars.*.title customUserVars.*.description customUserVars.*.sensitive
  access.users access.groups access.roles tools.include tools.exclude tools.readOnlyOnly
  mcpSettings.allowedDomains mcpSettings.allowedAddresses mcpSettings.operatorAddresses
  endpoint.names endpoint.priority endpoint.allowedOrigins servers.*.key *.tools.* *.prompts.*
  mcpServers.placeholder mcpServers.use mcpServers.create mcpServers.share mcpServers.public mcpServers.configureObo
  trustCheckbox.label trustCheckbox.label.* trustCheckbox.subLabel trustCheckbox.subLabel.*
  admin.use admin.create admin.share admin.public admin.configureObo
  custom.name custom.dropParams models.default models.default.name models.fetch
  toolApproval.enabled toolApproval.mode toolApproval.allow toolApproval.deny toolApproval.ask
  roles.*.allow roles.*.deny roles.*.ask roles.*.readOnlyOnly
  identityProviders.*.type identityProviders.*.clientId identityProviders.*.clientAuth
  identityProviders.*.clientAssertionAudience resourceServers.clientAssertionAudience
  identityProviders.*.certificateFile identityProviders.*.privateKeyFile identityProviders.*.assertionFile
  identityProviders.*.actorTokenFile identityProviders.*.caFile identityProviders.*.subjectTokenType
  identityProviders.*.requestedTokenType identityProviders.*.dpop targets.scopes
  resourceServers.clientId resourceServers.clientAuth resourceServers.certificateFile resourceServers.privateKeyFile
  resourceServers.caFile
  authorizationServer.enabled authorizationServer.replayWindowSeconds authorizationServer.caFile clients.*.name
  registration.enabled registration.perMinute registration.most idJagTenants.*`.split(/\s+/),
);

/** Shown without what opens them. */
const addressKeys = new Set(
  `url proxy iconPath oauth.authorization_url oauth.token_url oauth.revocation_endpoint oauth.redirect_uri oauth.issuer custom.baseURL
  issuers.*.origins issuers.*.endpointOrigins
  identityProviders.*.issuer identityProviders.*.authority identityProviders.*.tokenEndpoint targets.origins
  resourceServers.issuer resourceServers.tokenEndpoint
  clients.*.redirectUris authorizationServer.idJagIssuers`.split(/\s+/),
);

/** Every place of a value that the schema knows, with `*` for the names that people choose. */
function placesIn(schema: unknown, path: readonly Step[] = []): Step[][] {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap();
  if (inner instanceof z.ZodObject) {
    const known = Object.entries(inner.shape).flatMap(([key, field]) => placesIn(field, [...path, key]));
    // What nobody knows: a comment, a key of LibreChat, one that is misspelt.
    return [...known, [...path, 'x-note'], [...path, 'unheardOf']];
  }
  if (inner instanceof z.ZodRecord) return placesIn(inner.valueType, [...path, '*']);
  if (inner instanceof z.ZodArray) return placesIn(inner.element, [...path, 0]);
  if (inner instanceof z.ZodUnion) return inner.options.flatMap((option) => placesIn(option, path));
  return [[...path]];
}

const serverPlaces = placesIn(McpServer, ['mcpServers', '*']);
const places = [
  ...new Map([...placesIn(Config), ...serverPlaces].map((path) => [path.join('.'), path])).values(),
];

/** Whether the end of a path, without the places in lists, is among the keys. */
function isAmong(keys: ReadonlySet<string>, path: readonly Step[]): boolean {
  const words = path.filter((step) => typeof step === 'string');
  // What stands at the top of a server or of the file is named by itself.
  const [section] = words;
  const own = section === 'mcpServers' ? words.slice(2) : words;
  return (
    (own.length === 1 && keys.has(own[0] ?? '')) ||
    [2, 3].some((length) => own.length >= length && keys.has(own.slice(-length).join('.'))) ||
    // Of the interface: its own `mcpServers`.
    (section === 'interface' && [2, 3].some((length) => keys.has(words.slice(-length).join('.'))))
  );
}

function documentWith(path: readonly Step[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, step) => {
    if (typeof step === 'number') return [inner];
    return { [step === '*' ? 'any' : step]: inner };
  }, value);
}

/** Long enough not to be part of anything else by chance, short enough not to look like a key. */
const planted = fc.stringMatching(/^zq[a-z0-9]{6}zq$/);

const texts = (secret: string) => [
  secret,
  `Bearer ${secret}`,
  `\${NAME:-${secret}}`,
  `\${NAME-${secret}}`,
  `${secret}\${NAME}${secret}`,
  `{{LIBRECHAT_USER_ID}}:${secret}`,
  `\${broken ${secret}`,
  `https://${secret}.example/${secret}`,
  `\uE000${secret}`,
];

const addresses = (secret: string) => [
  `https://user:${secret}@host.example/mcp`,
  `https://${secret}@host.example`,
  `https://\${USER}:${secret}@host.example`,
  `socks5://u:p\\${secret}@host.example`,
  `socks5://u:${secret}\\p@host.example`,
  `http://u:12/${secret}@host.example`,
  `https://host.example/mcp?key=${secret}&b=${secret}`,
  `https://host.example/mcp?${secret}`,
  `https://host.example/mcp?${secret}==`,
  `https://host.example/mcp?key=\${KEY:-${secret}}`,
  `\${BASE}/mcp?key=${secret}`,
  `\${BASE:-https://u:${secret}@host.example}/mcp`,
  `https://host.example/#${secret}`,
  `https://host.example/s/${secret}0123456789${secret}/mcp`,
  `https://host.example\\s\\${secret}0123456789${secret}`,
  `\uE000${secret}`,
  `data:image/png;base64,${secret}`,
  secret,
  `user:${secret}`,
  `https:user:${secret}@host.example`,
];

const words = (secret: string) => [
  [secret],
  [`--key=${secret}`],
  [`-k=${secret}`],
  ['--token', secret],
  ['--header', `Authorization: ${secret}`],
  [`-p${secret}`],
  ['-e', `KEY=${secret}`],
  [`https://u:${secret}@host.example`],
  [`\${NAME:-${secret}}`],
  [`/files/${secret}0123456789${secret}`],
  ['--password', `/${secret}`],
  ['--password', `https://host.example/${secret}`],
];

describe('the configuration for people to look at', () => {
  test('no secret is shown, under whatever key of the schema it stands', () => {
    const isShown = (path: Step[]) => isAmong(shownKeys, path) || isAmong(addressKeys, path);
    const hidden = places.filter((path) => !isShown(path) && !path.includes('args'));
    expect([places.length > 150, hidden.length > 60]).toEqual([true, true]);
    const listed = places.map((path) => path.join('.'));
    for (const section of unusedSections) expect(listed).toContain(section);
    fc.assert(
      fc.property(planted, (secret) => {
        for (const path of hidden) {
          for (const text of texts(secret)) {
            for (const value of [text, [text], { any: text }, [{ any: [text] }]]) {
              const serialized = JSON.stringify(redactConfig(documentWith(path, value)));
              if (serialized.includes(secret))
                throw new Error(`${path.join('.')}: ${JSON.stringify(value)} as ${serialized}`);
            }
          }
        }
      }),
      { numRuns: 20 },
    );
  });

  test('of addresses nothing is shown that opens them', () => {
    const where = places.filter((path) => isAmong(addressKeys, path));
    expect(where).toHaveLength(addressKeys.size);
    fc.assert(
      fc.property(planted, (secret) => {
        for (const path of where) {
          for (const text of addresses(secret)) {
            const serialized = JSON.stringify(redactConfig(documentWith(path, text)));
            if (serialized.includes(secret)) throw new Error(`${path.join('.')}: ${text} as ${serialized}`);
          }
        }
      }),
      { numRuns: 20 },
    );
  });

  test('addresses still tell where', () => {
    for (const [text, expected] of [
      ['https://host.example:8443/mcp', 'https://host.example:8443/mcp'],
      ['https://u:p@host.example/mcp?a=b&c=${C}#d', `https://*:*@host.example/mcp?a=*&c=\${C}#*`],
      ['https://${HOST}/{{ROOM}}/mcp', 'https://${HOST}/{{ROOM}}/mcp'],
      ['${BASE:-https://host.example}/mcp', '${BASE:-*}/mcp'],
      ['http://${USER}:${PASS}@proxy.example:3128', 'http://${USER}:${PASS}@proxy.example:3128'],
      ['/icons/one.png', '/icons/one.png'],
      ['https://host.example/@scope/name', 'https://host.example/@scope/name'],
    ]) {
      expect([text, maskAddress(text ?? '')]).toEqual([text, expected?.replaceAll('*', secretMask)]);
    }
    const tenant = 'https://login.example/7a1b2c3d-0000-4000-8000-1234567890ab/v2.0';
    expect([maskAddress(tenant, { shouldKeepIds: true }) === tenant, maskAddress(tenant) === tenant]).toEqual(
      [true, false],
    );
  });

  test('of arguments flags, paths and names of servers are shown', () => {
    const shown = (...args: unknown[]) =>
      (maskArguments(args) as string[]).map((arg) => arg.replaceAll(secretMask, '*'));
    expect(shown('-y', '@scope/server-one@1.2.3', '/data/files', './run.mjs', '--verbose')).toEqual([
      ...['-y', '@scope/server-one@1.2.3', '/data/files', './run.mjs', '--verbose'],
    ]);
    expect(shown('mcp-server-fetch', '${HOME}/notes', 'https://host.example/sse?k=v', 7)).toEqual([
      ...['mcp-server-fetch', '${HOME}/notes', 'https://host.example/sse?k=*', '*'],
    ]);
    expect(shown('--port=80', '--api-key', '/looks/like/a/path', '--token', '${TOKEN}', '-phunter2')).toEqual(
      [...['--port=*', '--api-key', '*', '--token', '${TOKEN}', '*']],
    );
    expect(shown('hunter2', '--db', 'server-hunter', 'Authorization: Bearer x', 'A=b')).toEqual([
      ...['*', '--db', '*', '*', '*'],
    ]);
  });

  test('no word that may be a secret is shown among arguments', () => {
    const before = fc.array(fc.constantFrom('-y', '--verbose', '/data', '--db'), { maxLength: 3 });
    fc.assert(
      fc.property(planted, before, (secret, others) => {
        for (const args of words(secret)) {
          const serialized = JSON.stringify(maskArguments([...others, ...args]));
          if (serialized.includes(secret)) throw new Error(`${JSON.stringify(args)} as ${serialized}`);
        }
      }),
    );
  });

  test('a file is shown as it was read, with its variables by name', () => {
    const yaml = `
version: 1.2.1
x-note: planted
speech: { tts: { openai: { apiKey: planted } } }
mcpServers:
  wiki:
    type: streamable-http
    url: https://wiki.example/mcp?key=planted
    timeout: 5000
    headers: { X-Team: planted, X-Key: 'Key \${WIKI_KEY}', X-User: '{{LIBRECHAT_USER_ID}}' }
  local:
    command: npx
    args: [-y, '@scope/server-files', --token=planted]
    env: { TOKEN: planted, OTHER: '\${WIKI_KEY:-planted}' }
endpoints:
  custom:
    - { name: Local, apiKey: '\${WIKI_KEY}', baseURL: 'https://models.example/v1', titleModel: planted }
`;
    const loaded = loadSettings(yaml, { env: { WIKI_KEY: 'planted-value' } });
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.diagnostics));
    expect(loaded.redacted).toEqual({
      version: '1.2.1',
      'x-note': secretMask,
      speech: secretMask,
      mcpServers: {
        wiki: {
          type: 'streamable-http',
          url: `https://wiki.example/mcp?key=${secretMask}`,
          timeout: 5000,
          headers: {
            'X-Team': secretMask,
            'X-Key': `${secretMask}\${WIKI_KEY}`,
            'X-User': '{{LIBRECHAT_USER_ID}}',
          },
        },
        local: {
          command: 'npx',
          args: ['-y', '@scope/server-files', `--token=${secretMask}`],
          env: { TOKEN: secretMask, OTHER: `\${WIKI_KEY:-${secretMask}}` },
        },
      },
      endpoints: {
        custom: [
          {
            name: 'Local',
            apiKey: '${WIKI_KEY}',
            baseURL: 'https://models.example/v1',
            titleModel: secretMask,
          },
        ],
      },
    });
    expect(JSON.stringify(loaded.redacted)).not.toContain('planted');
  });
});
