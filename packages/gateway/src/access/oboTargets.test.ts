import { describe, expect, test } from '@jest/globals';
import {
  compileDefinition,
  readLoginProviderInfo,
  type KnownLogin,
  type ProviderSettings,
  type ServerSettings,
} from '@behalf/settings';
import { createOboTargets, type OboCandidate } from './oboTargets.ts';

const CLIENT = '11111111-2222-3333-4444-555555555555';
const loginAt = (issuer: string) =>
  readLoginProviderInfo({
    OPENID_ISSUER: issuer,
    OPENID_CLIENT_ID: CLIENT,
    OPENID_AUDIENCE: 'https://API.behalf.example:443/gateway/',
    OPENID_SCOPE: `openid profile email offline_access api://behalf-app/access_as_user behalf.use`,
  });
const generic = loginAt('https://sso.example');
const microsoft = loginAt('https://login.microsoftonline.com/tenant/v2.0');

const entra: ProviderSettings = { name: 'ms', type: 'entra', clientId: 'other-client' };
const exchange: ProviderSettings = { name: 'rfc', type: 'token-exchange', issuer: 'https://sso.example' };
const targets = [
  { scopes: ['a', 'b'], origins: ['https://s.example', 'http://inner.example'] },
  { scopes: ['https://graph.microsoft.com/.default'], origins: ['https://graph.example'] },
];

function settings(obo: object, more: object = {}): ServerSettings {
  const value = { type: 'streamable-http', url: 'https://s.example/mcp', ...more, obo };
  const compiled = compileDefinition('s', value, { env: {} });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.errors));
  return compiled.server;
}

const asUser = (server: ServerSettings): OboCandidate => ({
  ...{ source: 'user', settings: server },
  securityDecision: { decidedBy: 'eve', isIntact: true },
});

const GRAPH_SCOPES = 'https://graph.microsoft.com/.default';

function rig(
  providers: readonly ProviderSettings[],
  login: KnownLogin | null,
  declared: readonly ServerSettings[] = [],
) {
  const rules = createOboTargets({
    ...{ providers: () => providers, login: () => login, declaredServers: () => declared },
    graphScopes: GRAPH_SCOPES,
  });
  return (server: OboCandidate) => rules.findProblem(server)?.code ?? null;
}

describe('where exchanged tokens may go', () => {
  test('with targets every server is held to them, whoever defined it', () => {
    const codeOf = rig([{ ...exchange, name: 'login', targets }], generic);
    for (const source of ['yaml', 'config', 'user'] as const) {
      const of = (scopes: string, url?: string) =>
        codeOf({ source, settings: settings({ scopes }, url === undefined ? {} : { url }) });
      expect(of('b a')).toBeNull();
      expect(of('a', 'https://S.example:443/other')).toBeNull();
      expect(of('a c')).toBe('obo_target');
      expect(of('a', 'https://evil.example')).toBe('obo_target');
      expect(of('a', 'http://s.example')).toBe('obo_target');
      // Both are in the list, but not together.
      expect(of('https://graph.microsoft.com/.default')).toBe('obo_target');
      expect(of('a https://graph.microsoft.com/.default', 'https://graph.example')).toBe('obo_target');
      expect(of('https://graph.microsoft.com/.default', 'https://graph.example')).toBeNull();
      expect(of('A')).toBe('obo_target');
    }
  });

  test('a user’s server asks for neither Graph nor Azure’s management', () => {
    const scopes = [
      ...['https://graph.microsoft.com/.default', 'HTTPS://GRAPH.Microsoft.com/User.Read'],
      ...['https://graph.microsoft.com//.default', 'https://graph.microsoft.com:443/.default/'],
      ...['https://graph.microsoft.com./.default', 'https://x@graph.microsoft.com/.default'],
      ...['https%3A%2F%2Fgraph.microsoft.com%2F.default', 'https://graph%2Emicrosoft.com/.default'],
      ...['https%253A%252F%252Fgraph.microsoft.com%252F.default', 'graph.microsoft.com/.default'],
      ...['https://canary.graph.microsoft.com/.default', 'https://graph.microsoft.us/.default'],
      ...['https://dod-graph.microsoft.us/.default', 'https://microsoftgraph.chinacloudapi.cn/.default'],
      ...['https://graph.windows.net/.default', '00000003-0000-0000-C000-000000000000/.default'],
      ...['{00000003-0000-0000-c000-000000000000}/.default'],
      ...['00000003-0000-0000-c000-000000000000', 'api://00000003-0000-0000-c000-000000000000/.default'],
      ...['https://management.azure.com/.default', 'https://management.core.windows.net//.default'],
      ...['https://management.usgovcloudapi.net/x', 'https://management.chinacloudapi.cn/x'],
      ...['797f4846-ba00-4fd7-ba43-dac1f8f63013/user_impersonation'],
      // What no scope may hold, openly or encoded, is a disguise.
      ...['https://ｇraph.microsoft.com/.default', 'api://x/.default%20https://graph.microsoft.com/.default'],
      ...['https:\\\\graph.microsoft.com\\.default', 'api://x/%', 'api://x/%25252500'],
      ...['0000000300000000c000000000000000/x'],
    ];
    for (const login of [generic, microsoft, null]) {
      const codeOf = rig([], login);
      for (const scope of scopes) {
        expect([scope, codeOf(asUser(settings({ scopes: scope })))]).toEqual([scope, 'obo_scope']);
        const mixed = settings({ scopes: `api://mail/.default ${scope}` });
        expect([scope, codeOf(asUser(mixed))]).toEqual([scope, 'obo_scope']);
        if (login === generic) expect(codeOf({ source: 'yaml', settings: mixed })).toBeNull();
      }
    }
    for (const login of [generic, microsoft]) {
      for (const scope of [
        'api://mail/.default',
        'https://mail.example/read',
        '22222222-2222-3333-4444-555555555555/x',
      ]) {
        expect([scope, rig([], login)(asUser(settings({ scopes: scope })))]).toEqual([scope, null]);
      }
    }
  });

  test('nor, where Entra answers, for a service of Microsoft’s own', () => {
    const names = [
      ...['https://outlook.office.com', 'https://OUTLOOK.office365.com:443', 'https://substrate.office.com'],
      ...['https://contoso.sharepoint.com', 'https://contoso-my.sharepoint.us', 'https://vault.azure.net'],
      ...['https://storage.azure.com', 'https://x.blob.core.windows.net', 'https://database.windows.net'],
      ...[
        'https://org.crm4.dynamics.com',
        'https://analysis.windows.net/powerbi/api',
        'https://api.powerbi.com',
      ],
      ...[
        'https://app.vssps.visualstudio.com',
        'https://service.flow.microsoft.com',
        'https://vault.azure.cn',
      ],
      ...[
        'https://vault.usgovcloudapi.net',
        'https://login.partner.microsoftonline.cn',
        'https://a.azure.us',
      ],
      ...[
        'urn:ms-drs:enterpriseregistration.windows.net',
        'https://vault%2Eazure.net',
        'api://x/vault.azure.net',
      ],
      ...['00000002-0000-0ff1-ce00-000000000000', '00000003-0000-0FF1-CE00-000000000000'],
      ...['00000009-0000-0000-c000-000000000000', 'cfa8b339-82a2-471a-a3c9-0fc0be7a4093'],
      ...['499b84ac1321427faa17267ca6975798', 'api://e406a681-f3d4-42a8-90b6-c2b029497af1'],
    ];
    const securityDecision = { decidedBy: 'root', isIntact: true };
    const ms: ProviderSettings = { name: 'ms', type: 'jwt-bearer', issuer: microsoft!.issuer, clientId: 'c' };
    for (const name of names) {
      const server = settings({ scopes: `${name}/.default` });
      const code = [name, 'obo_scope'];
      // Under a name of the customer's as well.
      for (const login of [microsoft, generic]) {
        expect([name, rig([], login)(asUser(server))]).toEqual(code);
        const override = { source: 'config', settings: server, securityDecision } as const;
        expect([name, rig([], login)(override)]).toEqual(code);
      }
      const aimed = settings({ scopes: 'api://mail/x', provider: 'ms', audience: name });
      expect([name, rig([ms], generic)({ source: 'config', settings: aimed, securityDecision })]).toEqual(
        code,
      );
      expect([name, rig([], microsoft)({ source: 'yaml', settings: server })]).toEqual([name, null]);
    }
    for (const name of [
      ...['https://contoso.onmicrosoft.com/mail', 'https://notmicrosoft.com', 'https://azure.com.example'],
      ...['https://mail.azurewebsites.net', '00000002-0000-0ff1-ce00-000000000001'],
    ]) {
      expect([name, rig([], microsoft)(asUser(settings({ scopes: `${name}/x` })))]).toEqual([name, null]);
    }
    const otherScopes = settings({ scopes: 'https://vm.cloudapp.azure.com/x' });
    expect(rig([{ ...exchange, name: 'login' }], generic)(asUser(otherScopes))).toBeNull();
  });

  test('the token behind the placeholder is asked about at every use', () => {
    const headers = { A: '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' };
    const holding = (more: object = {}): ServerSettings => {
      const { obo: _, ...server } = settings({ scopes: 'a' }, { headers, ...more }) as { obo?: object };
      return server as ServerSettings;
    };
    const yaml = (server: ServerSettings) => ({ source: 'yaml', settings: server }) as const;
    expect(rig([], microsoft)(yaml(holding()))).toBeNull();
    expect(rig([], null)(yaml(holding()))).toBe('obo_login');
    expect(rig([], microsoft)(yaml(holding({ url: 'http://s.example' })))).toBe('plain_http');
    const codeOf = rig([{ ...entra, name: 'login', targets }], microsoft);
    expect(codeOf(yaml(holding()))).toBe('obo_target');
    expect(codeOf(yaml(holding({ url: 'https://graph.example/mcp' })))).toBeNull();
    const override = (server: ServerSettings) =>
      ({
        source: 'config',
        settings: server,
        securityDecision: { decidedBy: 'root', isIntact: true },
      }) as const;
    expect(rig([], microsoft)(override(holding()))).toBe('obo_scope');
    expect(rig([], microsoft, [holding()])(override(holding()))).toBeNull();
    expect(rig([], microsoft, [holding()])(override(holding({ url: 'https://evil.example' })))).toBe(
      'obo_scope',
    );
    expect(rig([], microsoft, [holding()])(asUser(holding()))).toBe('obo_scope');
  });

  test('a scope without a resource is Graph’s where Entra answers', () => {
    const answers = (login: KnownLogin | null, providers: ProviderSettings[] = []) =>
      ['User.Read', '.default', '/.default', 'api:///.default', 'openid profile', 'x:y'].map((scopes) =>
        rig(providers, login)(asUser(settings({ scopes }))),
      );
    const all = Array(6).fill('obo_scope');
    expect(answers(microsoft)).toEqual(all);
    // However Entra is spoken to.
    expect(answers(generic, [{ ...entra, name: 'login' }])).toEqual(all);
    const place = 'https://login.microsoftonline.us/t/oauth2/v2.0/token';
    expect(answers(generic, [{ name: 'login', type: 'jwt-bearer', tokenEndpoint: place }])).toEqual(all);
    // And where it may be Entra under another name: only who describes it says what such a scope means.
    expect(answers(generic)).toEqual(all);
    expect(answers(generic, [{ ...exchange, name: 'login' }])).toEqual(Array(6).fill(null));
    const beside = asUser(settings({ scopes: 'api://mail/.default offline_access' }));
    expect(rig([], microsoft)(beside)).toBeNull();
  });

  test('nor for the application that people sign in to', () => {
    const scopes = [
      ...[`api://${CLIENT}/.default`, `${CLIENT}/access`, CLIENT, `API://${CLIENT.toUpperCase()}//x`],
      ...[`api://tenant/${CLIENT}/.default`, `${CLIENT.replaceAll('-', '')}/x`],
      ...['https://api.behalf.example/gateway/.default', 'https://api.behalf.example//gateway'],
      ...['http://API.behalf.example:80/gateway/x', 'api%2Ebehalf.example/gateway/x'],
      ...['api://behalf-app/access_as_user', 'api://behalf-app/.default', 'API://BEHALF-APP//.default/'],
    ];
    for (const login of [generic, microsoft]) {
      const codeOf = rig([], login);
      for (const scope of scopes) {
        expect([scope, codeOf(asUser(settings({ scopes: scope })))]).toEqual([scope, 'obo_scope']);
      }
    }
    const described = rig([{ ...exchange, name: 'login' }], generic);
    expect(described(asUser(settings({ scopes: 'Behalf.Use' })))).toBe('obo_scope');
    expect(rig([], generic)(asUser(settings({ scopes: 'https://api.behalf.example/other/x' })))).toBeNull();
    // The client that exchanges is such an application as well.
    const codeOf = rig([{ ...exchange, name: 'login', clientId: 'other-client' }], generic);
    expect(codeOf(asUser(settings({ scopes: 'api://other-client/.default' })))).toBe('obo_scope');
  });

  test('an override is the operator’s only where nothing was decided anew', () => {
    const codeOf = rig([exchange], generic);
    const graph = settings({ scopes: 'https://graph.microsoft.com/.default' });
    const override = (securityDecision?: OboCandidate['securityDecision']) =>
      codeOf({ source: 'config', settings: graph, securityDecision });
    expect(override({ decidedBy: null, isIntact: true })).toBeNull();
    expect(override({ decidedBy: 'root', isIntact: true })).toBe('obo_scope');
    expect(override({ decidedBy: null, isIntact: false })).toBe('obo_scope');
    expect(override()).toBe('obo_scope');
    // A user's server has nothing of the operator's, whatever its record says.
    expect(
      codeOf({ source: 'user', settings: graph, securityDecision: { decidedBy: null, isIntact: true } }),
    ).toBe('obo_scope');
    for (const key of ['audience', 'resource']) {
      const obo = { scopes: 'a', provider: 'rfc', [key]: 'https://graph.microsoft.com' };
      const securityDecision = { decidedBy: 'root', isIntact: true };
      expect(codeOf({ source: 'config', settings: settings(obo), securityDecision })).toBe('obo_scope');
      expect(codeOf({ source: 'yaml', settings: settings(obo) })).toBeNull();
    }
  });

  test('a user names scopes and nothing else, and no proxy', () => {
    const codeOf = rig([exchange], generic);
    for (const more of [
      { provider: 'rfc' },
      { grant: 'token-exchange' },
      { audience: 'x' },
      { resource: 'https://x.example' },
    ]) {
      const server = settings({ scopes: 'api://a/b', ...more });
      expect(codeOf(asUser(server))).toBe('operator_only');
      expect(
        codeOf({
          source: 'config',
          settings: server,
          securityDecision: { decidedBy: 'root', isIntact: true },
        }),
      ).toBeNull();
    }
    const proxied = settings({ scopes: 'a' }, { proxy: 'http://proxy.example' });
    expect(codeOf(asUser(proxied))).toBe('operator_only');
    expect(codeOf({ source: 'yaml', settings: proxied })).toBeNull();
  });

  test('nothing goes over plain http but to loopback or a declared origin', () => {
    for (const source of ['yaml', 'user'] as const) {
      const of = (url: string, providers: ProviderSettings[] = []) =>
        rig(providers, generic)({ source, settings: settings({ scopes: 'api://a/b' }, { url }) });
      expect(of('http://s.example/mcp')).toBe('plain_http');
      expect(of('http://127.0.0.1.evil.example/mcp')).toBe('plain_http');
      expect(of('http://127.0.0.1:1/mcp')).toBeNull();
      expect(of('http://[::1]/mcp')).toBeNull();
      const listed = [{ scopes: ['api://a/b'], origins: ['http://inner.example'] }];
      expect(of('http://inner.example/mcp', [{ ...exchange, name: 'login', targets: listed }])).toBeNull();
    }
  });

  test('what cannot be decided is refused', () => {
    const yaml = (obo: object) => ({ source: 'yaml', settings: settings(obo) }) as const;
    expect(rig([], null)(yaml({ scopes: 'a' }))).toBe('obo_login');
    expect(rig([], { ...generic!, clientId: null })(yaml({ scopes: 'a' }))).toBe('obo_login');
    expect(rig([exchange], generic)(yaml({ scopes: 'a', provider: 'rfd' }))).toBe('provider_unknown');
    expect(rig([entra], null)(yaml({ scopes: 'a', provider: 'ms', grant: 'jwt-bearer' }))).toBe('obo_entra');
    const server = settings({ scopes: 'a' });
    const open = { ...server, url: [{ kind: 'userVar', name: 'K' }] } as unknown as ServerSettings;
    expect(rig([], generic)({ source: 'yaml', settings: open })).toBe('obo_url');
    const { obo: _, ...plain } = server as Extract<ServerSettings, { type: 'sse' }>;
    expect(rig([], null)({ source: 'user', settings: plain })).toBeNull();
  });

  test('asked again it is looked up, until the providers or the login change', () => {
    let requestCount = 0;
    const counted = {
      ...exchange,
      get name() {
        requestCount += 1;
        return 'rfc';
      },
    };
    let providers: ProviderSettings[] = [counted];
    let login: KnownLogin | null = generic;
    let declared: ServerSettings[] = [];
    const rules = createOboTargets({
      ...{ providers: () => providers, declaredServers: () => declared, graphScopes: GRAPH_SCOPES },
      // A fresh object each time, as whoever composes it may make one.
      login: () => login && { ...login, scopes: [...login.scopes] },
    });
    const server = asUser(settings({ scopes: 'api://behalf-app/use' }));
    const first = rules.findProblem(server);
    expect(first).toMatchObject({ code: 'obo_scope', path: ['obo', 'scopes'] });
    expect([rules.findProblem(server), rules.findProblem({ ...server }), requestCount]).toEqual([
      first,
      first,
      1,
    ]);
    expect(rules.findProblem({ ...server, source: 'yaml' })).toBeNull();
    expect(rules.findProblem(server)).toEqual(first);
    login = { ...generic!, scopes: ['openid', 'profile', 'email', 'phone', 'api://x/y', 'z'] };
    expect(rules.findProblem(server)).toBeNull();
    providers = [{ ...exchange, name: 'login', targets }];
    expect(rules.findProblem(server)?.code).toBe('obo_target');
    providers = [];
    login = null;
    expect(rules.findProblem(server)?.code).toBe('obo_login');
    login = generic;
    const override = { ...server, source: 'config' } as const;
    expect(rules.findProblem(override)?.code).toBe('obo_scope');
    declared = [settings({ scopes: 'api://behalf-app/use' })];
    expect(rules.findProblem(override)).toBeNull();
  });

  test('what is refused is told without repeating it', () => {
    const server = asUser(settings({ scopes: 'https://graph.microsoft.com/pl4nted' }));
    const rules = createOboTargets({
      ...{ providers: () => [], login: () => generic, declaredServers: () => [], graphScopes: GRAPH_SCOPES },
    });
    expect(JSON.stringify(rules.findProblem(server))).not.toContain('pl4nted');
  });
});
