import type { DiagnosisView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { formatChecklist, formatConclusion } from '../commands/diagnose.ts';
import { createStyle, formatJson, formatTable, stripControls, toCleanLine } from './terminal.ts';
import { formatCredential, formatTimeSpan } from './credential.ts';
import { toolResultSchema, formatToolResult } from './toolResult.ts';

const plain = createStyle(false);
const ESCAPES = '\u001b[2J\u009b31mx\u202e\u0007\r';

describe('what is printed', () => {
  test('holds nothing that a terminal would act upon', () => {
    expect(stripControls(`a${ESCAPES}b\n\tc`)).toBe('a[2J31mxb\n\tc');
    expect(toCleanLine(` a\n b${ESCAPES}`)).toBe('a b[2J31mx');
    expect(JSON.parse(formatJson({ a: ESCAPES }))).toEqual({ a: ESCAPES });
    expect(formatJson({ a: ESCAPES })).toMatch(/^[\x20-\x7e\n]*$/);
    expect(formatTable(['NAME'], [[ESCAPES + '\nsecond']], plain)).toBe('NAME\n[2J31mx second\n');
  });

  test('has colours only where they were asked for', () => {
    expect(createStyle(true).bad('x')).toBe('\u001b[31mx\u001b[39m');
    expect(plain.bad('x')).toBe('x');
  });

  test('a diagnosis is a line for each step, with what to do', () => {
    const view: DiagnosisView = {
      ...{ serverName: 'notes', ok: false, failedAt: 'tls' },
      steps: [
        { step: 'policy', outcome: 'ok', message: 'Fine.' },
        {
          step: 'tls',
          outcome: 'failed',
          message: `Bad${ESCAPES}.`,
          action: 'Mend it.',
          code: 'MCP_UNREACHABLE',
        },
        { step: 'scopes', outcome: 'warning', message: 'Fewer.', action: 'Look.' },
        { step: 'tools', outcome: 'skipped', message: 'Not tried.' },
      ],
    };
    expect(formatChecklist(view, plain, false, formatConclusion(view, plain)).split('\n')).toEqual([
      'ok   policy  Fine.',
      'FAIL tls     Bad[2J31mx. MCP_UNREACHABLE',
      '             Mend it.',
      'note scopes  Fewer.',
      '             Look.',
      '',
      'Your calls to notes do not work, or will stop working soon.',
      '',
    ]);
    expect(formatChecklist(view, plain, true, formatConclusion(view, plain))).toContain(
      '-    tools   Not tried.',
    );
  });

  test('a result is its texts, and everything else by kind and size', () => {
    const read = toolResultSchema.safeParse({
      content: [
        { type: 'text', text: 'hello' },
        { type: 'image', mimeType: 'image/png', data: 'AAAA' },
        { type: 'resource', resource: { uri: 'a:b', text: 'inside' } },
        'odd',
      ],
      isError: true,
      _meta: { 'behalf/auth': { code: 'needs_reauth', reason: 'absent' } },
    });
    if (!read.success) throw new Error('It was not read');
    expect(read.data).toMatchObject({ isError: true, signIn: 'absent' });
    expect(formatToolResult(read.data)).toBe(
      'hello\n[image image/png, 3 bytes; see it with --json]\ninside\n[unknown; see it with --json]\n',
    );
    expect(toolResultSchema.safeParse({})).toEqual({ success: false });
    const structured = toolResultSchema.safeParse({ content: [], structuredContent: { a: 1 } });
    expect(structured.success && formatToolResult(structured.data)).toBe('{\n  "a": 1\n}\n');
  });

  test('times and credentials are told in words', () => {
    expect([0, 90_000, 600_000, 7_200_000 * 3, 86_400_000 * 9].map(formatTimeSpan)).toEqual([
      '0 s',
      '90 s',
      '10 min',
      '6 h',
      '9 days',
    ]);
    const credential = {
      label: 'default',
      fingerprint: 'abcd1234',
      expiresAt: 61_000,
      hasRefreshToken: true,
    };
    expect(formatCredential(credential as never, 1_000)).toBe(
      'default: abcd1234, expires in 60 s, renewed automatically',
    );
    expect(formatCredential({ ...credential, expiresAt: 0, hasRefreshToken: false } as never, 1_000)).toBe(
      'default: abcd1234, expired 1 s ago',
    );
  });
});
