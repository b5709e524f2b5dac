import type { Problem, ServerView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../api/request.ts';
import { fieldOfPath, validateForm, toFormProblems, parsePath } from './formProblems.ts';
import { emptyForm, toServerForm, isChanged, isLocked, type ServerForm } from './serverForm.ts';

const view: ServerView = {
  type: 'sse',
  url: 'https://a.example/mcp',
  chatMenu: true,
  requiresOAuth: false,
  serverInstructions: false,
  source: 'user',
  version: 3,
  permissions: 15,
};
const keyed: ServerView = { ...view, apiKey: { source: 'admin', authorization_type: 'bearer' } };

function refusal(code: ApiError['code'], more: Partial<Problem>, status = 400): ApiError {
  const problem = { code, status, title: 'Title', detail: 'Title', ...more } as Problem;
  return new ApiError({ code, status, title: 'Title', detail: 'Title', problem });
}

describe('what is wrong with a form', () => {
  test('a path of the gateway leads to the field of the dialog', () => {
    expect(parsePath('config.headers["X Key"]')).toEqual(['config', 'headers', 'X Key']);
    expect(parsePath('config.oauth.grant_types_supported[0]')).toEqual([
      'config',
      'oauth',
      'grant_types_supported',
      '0',
    ]);
    const fields = {
      'config.url': 'url',
      'config.title': 'title',
      'config.headers': 'headers',
      'config.headers.X-Key': 'headers.x-key',
      'config.headers["X Key"]': 'headers.x key',
      'config.apiKey': 'auth',
      'config.apiKey.key': 'apiKey.key',
      'config.oauth': 'auth',
      'config.oauth.token_url': 'oauth.token_url',
      'config.obo': 'auth',
      'config.obo.scopes': 'obo.scopes',
      'config.oauth.grant_types_supported[0]': undefined,
      'config.timeout': undefined,
      config: undefined,
      'elsewhere.url': undefined,
    };
    for (const [path, field] of Object.entries(fields))
      expect([path, fieldOfPath(path)]).toEqual([path, field]);
  });

  test('what no field stands for is not swallowed', () => {
    const error = refusal('MCP_CONFIG_INVALID', {
      errors: [
        { path: 'config.url', code: 'url', message: 'has no host' },
        { path: 'config.url', code: 'plain_http', message: 'must be https', suggestion: 'use https' },
        { path: 'config.timeout', code: 'operator_only', message: 'can be set by the operator only' },
      ],
    });
    expect(toFormProblems(error, emptyForm, undefined)).toEqual({
      fields: { url: 'Has no host. Must be https. Use https.' },
      others: ['config.timeout: Can be set by the operator only.'],
    });
    expect(toFormProblems(new TypeError('?'), emptyForm, undefined)).toEqual({ fields: {}, others: [] });
    const domain = refusal('MCP_DOMAIN_NOT_ALLOWED', {}, 403);
    expect(toFormProblems(domain, emptyForm, undefined).fields['url']).toMatch(/^Title\. Ask the operator/);
  });

  test('a secret to be entered again is asked for where it is typed', () => {
    const moved = refusal('MCP_SECRET_REENTRY_REQUIRED', {
      changedFields: ['url'],
      errors: [{ path: 'config.url', code: 'secret_binding', message: 'has changed' }],
    });
    const storedForm = toServerForm(keyed);
    expect(toFormProblems(moved, storedForm, keyed).fields).toEqual({
      'apiKey.key': expect.stringMatching(/You changed “URL”\./),
    });
    const typed = { ...storedForm, apiKey: { ...storedForm.apiKey, key: 'new' } };
    expect(Object.keys(toFormProblems(moved, typed, keyed).fields)).toEqual(['headers']);
    const client = refusal('MCP_OAUTH_SECRET_REENTRY_REQUIRED', {
      changedFields: ['oauth.token_url', 'oauth.client_id'],
    });
    expect(toFormProblems(client, emptyForm, view).fields).toEqual({
      'oauth.client_secret': expect.stringMatching(/You changed “Token URL” and “Client ID”\./),
    });
  });

  test('what is missing is seen before the gateway is asked', () => {
    expect(Object.keys(validateForm(emptyForm, undefined))).toEqual(['title', 'url']);
    expect(validateForm(toServerForm(view), view)).toEqual({});
    const urlOf = (url: string, type: ServerForm['type'] = 'sse') =>
      validateForm({ ...toServerForm(view), url, type }, view)['url'];
    expect(urlOf('tools.example.com/mcp')).toBe('Enter a URL that starts with http:// or https://.');
    expect(urlOf('https://')).toBe('Enter a URL that starts with http:// or https://.');
    expect(urlOf('https://a.example/mcp', 'websocket')).toBe('Enter a URL that starts with ws:// or wss://.');
    expect(urlOf('wss://a.example/mcp', 'websocket')).toBeUndefined();
    expect([urlOf('https://{{HOST}}/mcp'), urlOf('{{URL}}')]).toEqual([undefined, undefined]);
    expect(validateForm(toServerForm(keyed), keyed)).toEqual({});
    const custom: ServerForm = {
      ...toServerForm(view),
      auth: 'apiKey',
      apiKey: { source: 'admin', form: 'custom', customHeader: ' ', key: '' },
    };
    expect(Object.keys(validateForm(custom, view))).toEqual(['apiKey.key', 'apiKey.custom_header']);
    expect(Object.keys(validateForm({ ...toServerForm(view), auth: 'obo' }, view))).toEqual(['obo.scopes']);
    const rows = [
      { id: 1, name: 'X-A', value: '1' },
      { id: 2, name: 'x-a ', value: '2' },
      { id: 3, name: '', value: '3' },
      { id: 4, name: '', value: '' },
    ];
    const headers = { ...toServerForm(view), replacesHeaders: true, headers: rows };
    expect(Object.keys(validateForm(headers, view))).toEqual(['headers#2', 'headers#3']);
  });

  test('only a server that has On-Behalf-Of is locked, and for who may not', () => {
    const behalf = { ...view, obo: { scopes: 'a' } };
    expect([isLocked(behalf, false), isLocked(behalf, true), isLocked(view, false)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(isLocked(undefined, false)).toBe(false);
    expect([
      isChanged(toServerForm(view), toServerForm(view)),
      isChanged(toServerForm(view), toServerForm(keyed)),
    ]).toEqual([false, true]);
  });
});
