import { describe, expect, test } from '@jest/globals';
import { defineServer } from '../../../test/toolcallRig.ts';
import { buildToolList } from '../../tools/toolList.ts';
import { type ReinitOutcome, type ReinitResult, toReinitResult } from './outcome.ts';

const list = (items: object[]) =>
  buildToolList(defineServer('s'), { items: items as never, complete: true, era: 'legacy' }, () => undefined)
    .tools;
const tools = list([{ name: 'search' }]);
const says = (rest: string) => `MCP server 's' ${rest}`;
const failed = "Failed to reinitialize MCP server 's'";
const no = { serverName: 's', success: false, oauthRequired: false, oauthUrl: null, tools: null };

/** Row by row what front ends branch on, and nothing besides. */
const rows: [ReinitOutcome, ReinitResult][] = [
  [
    { kind: 'connected', tools },
    { ...no, success: true, message: says('reinitialized successfully'), tools },
  ],
  [
    { kind: 'deferred' },
    {
      ...no,
      success: true,
      message: says('connects with the first request of a chat'),
      connectionDeferred: true,
    },
  ],
  [
    { kind: 'authorization_unavailable', tools },
    {
      ...no,
      success: true,
      message: says('tools discovered, OAuth required for execution'),
      oauthRequired: true,
      tools,
      code: 'MCP_AUTHORIZATION_UNAVAILABLE',
    },
  ],
  ...[null, list([])].map((nothing): [ReinitOutcome, ReinitResult] => [
    { kind: 'authorization_unavailable', tools: nothing },
    {
      ...no,
      message: says('ready for OAuth authentication'),
      oauthRequired: true,
      failureReason: 'oauth_required',
      code: 'MCP_AUTHORIZATION_UNAVAILABLE',
    },
  ]),
  [
    { kind: 'user_vars_missing', names: ['A', 'B'] },
    {
      ...no,
      message: says('requires user-provided variable(s) [A, B] which are not set'),
      failureReason: 'missing_custom_user_vars',
      missingUserVars: ['A', 'B'],
      code: 'MCP_USER_VARS_MISSING',
    },
  ],
  [
    { kind: 'obo_failed', code: 'OBO_TEMPORARY', retryable: true, tools: null },
    {
      ...no,
      message: failed,
      failureReason: 'initialization_failed',
      code: 'OBO_TEMPORARY',
      retryable: true,
    },
  ],
  [
    { kind: 'obo_failed', code: 'OBO_SUBJECT_TOKEN_MISSING', retryable: false, tools: null },
    {
      ...no,
      message: failed,
      failureReason: 'initialization_failed',
      code: 'OBO_SUBJECT_TOKEN_MISSING',
      retryable: false,
    },
  ],
  [
    { kind: 'credential_rejected' },
    { ...no, message: failed, failureReason: 'initialization_failed', code: 'MCP_CREDENTIAL_REJECTED' },
  ],
  [
    { kind: 'unreachable', code: 'MCP_UNREACHABLE', isRepeated: false },
    { ...no, message: failed, failureReason: 'unreachable', code: 'MCP_UNREACHABLE', retryable: true },
  ],
  [
    { kind: 'unreachable', code: 'MCP_TIMEOUT', isRepeated: true, retryAt: 7 },
    {
      ...no,
      message: says('is still unreachable'),
      failureReason: 'unreachable',
      code: 'MCP_TIMEOUT',
      retryable: true,
      retryAt: 7,
    },
  ],
  [
    { kind: 'failed', code: 'MCP_PROTOCOL_ERROR' },
    { ...no, message: failed, failureReason: 'initialization_failed', code: 'MCP_PROTOCOL_ERROR' },
  ],
];

describe('how a reinitialisation is described', () => {
  test('each outcome has its success, its words and its fields', () => {
    for (const [outcome, described] of rows) {
      expect([outcome.kind, toReinitResult('s', outcome, 1_000)]).toEqual([outcome.kind, described]);
    }
  });

  test('success needs a connection, or tools, or a reason to wait', () => {
    const successful = rows.filter(([outcome]) => toReinitResult('s', outcome, 1_000).success);
    expect(successful.map(([{ kind }]) => kind)).toEqual([
      'connected',
      'deferred',
      'authorization_unavailable',
    ]);
  });
});
