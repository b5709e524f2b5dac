import { describe, expect, test } from '@jest/globals';
import { compileSettings } from '../../test/servers.ts';
import { listDeclaredVariables, mayRequireOAuth, resolveScope } from '../definitions/definition.ts';

const KEY = { KEY: { title: 'Key', description: '' } };
const scope = (definition: Record<string, unknown>, env: Record<string, string> = {}) =>
  resolveScope(compileSettings(definition, env), 'yaml');
const user = (auth: string, requestScoped = false) => ({ scope: 'user', auth, requestScoped });

describe('scope', () => {
  test('an ordinary server of the file or of an override is shared', () => {
    expect(scope({})).toEqual({ scope: 'app' });
    expect(scope({ headers: { 'X-Key': 'fixed' } })).toEqual({ scope: 'app' });
    expect(scope({ apiKey: { source: 'admin', authorization_type: 'bearer', key: 'k' } })).toEqual({
      scope: 'app',
    });
    expect(scope({ command: 'node', env: { A: 'b' } })).toEqual({ scope: 'app' });
    expect(scope({ requiresOAuth: false, oauth: { client_id: 'a' } })).toEqual({ scope: 'app' });
    expect(resolveScope(compileSettings({}), 'config')).toEqual({ scope: 'app' });
  });

  test('nobody signs in where no request could carry a token', () => {
    const could = (definition: Record<string, unknown>) =>
      mayRequireOAuth({ settings: compileSettings(definition) });
    expect(could({})).toBe(true);
    expect(could({ type: 'websocket', url: 'wss://mcp.example/mcp' })).toBe(false);
    expect(could({ command: 'node' })).toBe(false);
  });

  test('whatever names or needs a user is never shared', () => {
    expect(resolveScope(compileSettings({}), 'user')).toEqual(user('none'));
    expect(resolveScope(compileSettings({ headers: { 'X-Key': 'fixed' } }), 'user')).toEqual(user('static'));
    expect(scope({ startup: false })).toEqual(user('none'));
    expect(scope({ startup: false, headers: { 'X-Key': 'fixed' } })).toEqual(user('static'));
    expect(scope({ requiresOAuth: true })).toEqual(user('oauth'));
    expect(scope({ oauth: { client_id: 'a' } })).toEqual(user('oauth'));
    expect(scope({ obo: { scopes: 'a' } })).toEqual(user('obo'));
    expect(scope({ customUserVars: KEY })).toEqual(user('userVars'));
    expect(scope({ apiKey: { source: 'user', authorization_type: 'bearer' } })).toEqual(user('userVars'));
    expect(scope({ url: 'https://mcp.example/{{LIBRECHAT_USER_ID}}' })).toEqual(user('static'));
    expect(scope({ headers: { A: '{{LIBRECHAT_OPENID_ACCESS_TOKEN}}' } })).toEqual(user('static'));
    expect(scope({ headers: { A: '{{LIBRECHAT_GRAPH_ACCESS_TOKEN}}' } })).toEqual(user('static'));
    expect(scope({ command: 'node', args: ['{{LIBRECHAT_USER_EMAIL}}'] })).toEqual(user('static'));
    expect(scope({ command: 'node', env: { A: '{{LIBRECHAT_USER_EMAIL}}' } })).toEqual(user('static'));
    // No request of a process carries a token, but what it does as one user is not for another.
    expect(scope({ command: 'node', requiresOAuth: true })).toEqual(user('none'));
  });

  test('a placeholder in the key of the operator counts too', () => {
    const key = 'pre-{{LIBRECHAT_USER_ID}}';
    expect(scope({ apiKey: { source: 'admin', authorization_type: 'custom', key } })).toEqual(user('static'));
  });

  test('a value of the environment that looks like a placeholder is text', () => {
    expect(scope({ headers: { A: '${A}' } }, { A: '{{LIBRECHAT_USER_ID}}' })).toEqual({ scope: 'app' });
  });

  test('one that names fields of the request serves one request alone', () => {
    const body = '{{LIBRECHAT_BODY_CONVERSATIONID}}';
    expect(scope({ headers: { A: body } })).toEqual(user('static', true));
    expect(scope({ requiresOAuth: true, oauth_headers: { A: body } })).toEqual(user('oauth', true));
    expect(() => scope({ headers: { A: '{{LIBRECHAT_BODY_MODEL}}' } })).toThrow(/unknown/);
  });

  test('the variables of a server are those it declares', () => {
    expect(listDeclaredVariables(compileSettings({}))).toEqual([]);
    expect(
      listDeclaredVariables(
        compileSettings({ customUserVars: KEY, apiKey: { source: 'user', authorization_type: 'basic' } }),
      ),
    ).toEqual(['KEY', 'MCP_API_KEY']);
  });
});
