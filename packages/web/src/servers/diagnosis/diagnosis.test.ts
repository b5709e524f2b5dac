import type { DiagnosisStep, DiagnosisView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { partsOf, stepName, verdictOf } from './diagnosisText.ts';

const step = (name: DiagnosisStep['step'], outcome: DiagnosisStep['outcome'], more: object = {}) => ({
  ...{ step: name, outcome, message: `About ${name}.` },
  ...more,
});
const view = (...steps: DiagnosisStep[]): DiagnosisView => {
  const failed = steps.find(({ outcome }) => outcome === 'failed');
  return { serverName: 'notes', ok: !failed, ...(failed && { failedAt: failed.step }), steps };
};

describe('what a diagnosis comes to', () => {
  test('says where it stops and what to do, and else that it works', () => {
    const policy = step('policy', 'ok');
    expect(verdictOf(view(policy, step('tools', 'ok')))).toMatchObject({
      tone: 'success',
      title: 'Your calls to this server work',
    });
    expect(verdictOf(view(policy, step('scopes', 'warning'))).text).toBe('See the warnings below.');
    const missing = step('credential', 'failed', { action: 'Connect the server.', code: 'X' });
    expect(verdictOf(view(policy, missing, step('tools', 'skipped')))).toEqual({
      tone: 'danger',
      title: 'Failed at: Your sign-in or key',
      text: 'About credential. Connect the server.',
    });
    // The first that failed, not the last.
    expect(verdictOf(view(step('metadata', 'failed'), missing)).title).toContain('Sign-in metadata');
  });

  test('sets aside what was not looked at, and names every step', () => {
    const { looked, skipped } = partsOf(view(step('policy', 'ok'), step('dns', 'skipped')));
    expect([looked, skipped].map((part) => part.map((one) => one.step))).toEqual([['policy'], ['dns']]);
    expect(stepName('tls')).toBe('Connection and TLS certificate');
    expect(stepName('moon_phase')).toBe('moon phase');
  });
});
