import type { ReinitializeView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { describeReinit } from './reinitResult.ts';

const base: ReinitializeView = {
  success: false,
  message: 'Failed to reinitialize MCP server',
  serverName: 'mail',
  oauthRequired: false,
  oauthUrl: null,
  tools: null,
  availableTools: null,
};

function say(view: Partial<ReinitializeView>, wasUnreachable = false) {
  const labelOf = (name: string) => (name === 'CRM_TOKEN' ? 'Your token' : name);
  return describeReinit({ ...base, ...view }, { wasUnreachable, labelOf });
}

/** The rows of docs/reference/rest.md. */
const rows: readonly [Partial<ReinitializeView>, ReturnType<typeof say>['tone'], RegExp][] = [
  [{ success: true, tools: [{}, {}] }, 'success', /Reconnected: 2 tools found/],
  [{ success: true, connectionDeferred: true }, 'info', /next chat request/],
  [
    { success: true, oauthRequired: true, code: 'MCP_AUTHORIZATION_UNAVAILABLE', tools: [{}] },
    'warning',
    /^Tools found.*Sign in to this server/,
  ],
  [
    { oauthRequired: true, failureReason: 'oauth_required', code: 'MCP_AUTHORIZATION_UNAVAILABLE' },
    'warning',
    /^Sign in to this server/,
  ],
  [
    {
      failureReason: 'missing_custom_user_vars',
      code: 'MCP_USER_VARS_MISSING',
      missingUserVars: ['CRM_TOKEN', 'TENANT'],
    },
    'warning',
    /missing: Enter Your token, TENANT below/,
  ],
  [
    { failureReason: 'unreachable', code: 'MCP_TIMEOUT', retryable: true },
    'danger',
    /^Could not reach the server: The server did not respond in time/,
  ],
  [
    { failureReason: 'unreachable', code: 'MCP_UNREACHABLE', retryable: true, retryAt: Date.now() + 60_000 },
    'danger',
    /^Still unreachable.*retries at .*\d/,
  ],
  [
    { failureReason: 'initialization_failed', code: 'MCP_CREDENTIAL_REJECTED' },
    'danger',
    /rejected the credential: Check the key/,
  ],
  [
    { success: true, code: 'OBO_SUBJECT_TOKEN_MISSING', retryable: false, tools: [{}] },
    'warning',
    /^Tools found.*your organization.*: There is no token of your identity provider to exchange/,
  ],
  [
    { failureReason: 'initialization_failed', code: 'OBO_SUBJECT_TOKEN_EXPIRED', retryable: false },
    'warning',
    /sign-in cannot be used.*Sign in again/,
  ],
  [
    { failureReason: 'initialization_failed', code: 'OBO_CONSENT_REQUIRED', retryable: false },
    'warning',
    /sign-in cannot be used.*consent/,
  ],
  [
    { failureReason: 'initialization_failed', code: 'OBO_TEMPORARY', retryable: true },
    'warning',
    /no token.*Try again/,
  ],
  [
    { failureReason: 'initialization_failed', code: 'MCP_OBO_FORBIDDEN', retryable: false },
    'danger',
    /on your behalf are not allowed.*CONFIGURE_OBO/,
  ],
  [
    { failureReason: 'initialization_failed', code: 'OBO_MISCONFIGURED', retryable: false },
    'danger',
    /^Could not connect: The token exchange is misconfigured/,
  ],
  [
    { failureReason: 'initialization_failed', code: 'MCP_PROTOCOL_ERROR' },
    'danger',
    /^Could not connect: The server violated the MCP protocol/,
  ],
];

describe('what a reinit came to', () => {
  test('every outcome is said in words', () => {
    for (const [view, tone, words] of rows) {
      const said = say(view);
      expect([said.tone, `${said.title}: ${said.text}`]).toEqual([tone, expect.stringMatching(words)]);
    }
  });

  test('who needs to sign in is told where', () => {
    const where = rows.map(([view]) => say(view).signIn).filter(Boolean);
    expect(where).toEqual(['there', 'there', 'here', 'here', 'here']);
  });

  test('a server that was down before is still down', () => {
    const view = { failureReason: 'unreachable', code: 'MCP_UNREACHABLE', retryable: true } as const;
    expect([say(view).title, say(view, true).title]).toEqual([
      'Could not reach the server',
      'Still unreachable',
    ]);
  });
});
