import { describe, expect, test } from '@jest/globals';
import { compileSettings } from '../../test/servers.ts';
import { withoutCredentials } from '../definitions/render.ts';

describe('a definition without anybody’s values', () => {
  test('keys, authorizations and values of users are left out, the rest stays', () => {
    const bare = withoutCredentials(
      compileSettings({
        type: 'streamable-http',
        url: 'https://mcp.example/mcp',
        apiKey: { source: 'admin', authorization_type: 'custom', key: 'planted' },
        headers: {
          Authorization: 'Bearer planted',
          'X-Api-Key': 'planted',
          'X-Access-Token': 'planted',
          Cookie: 'planted',
          'X-User': '{{LIBRECHAT_USER_ID}}',
          'X-Mine': 'planted {{MINE}}',
          'X-Team': 'one',
        },
        customUserVars: { MINE: { title: 'Mine', description: '' } },
      }),
    );
    expect(bare).not.toBeNull();
    expect(JSON.stringify(bare)).not.toContain('planted');
    expect(Object.keys((bare as { headers: object }).headers)).toEqual(['X-Team']);
    expect(bare?.apiKey).toBeUndefined();
  });

  test('a process, and an address that names the user, cannot be asked that way', () => {
    expect(withoutCredentials(compileSettings({ command: 'node' }))).toBeNull();
    const own = compileSettings({
      type: 'streamable-http',
      url: 'https://mcp.example/{{LIBRECHAT_USER_ID}}',
    });
    expect(withoutCredentials(own)).toBeNull();
  });
});
