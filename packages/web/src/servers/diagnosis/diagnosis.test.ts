import type { DiagnosisStep, DiagnosisView } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { splitSteps, stepName, summarizeDiagnosis } from './diagnosisText.ts';

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
    expect(summarizeDiagnosis(view(policy, step('tools', 'ok')))).toMatchObject({
      tone: 'success',
      title: 'Your calls to this server work',
    });
    expect(summarizeDiagnosis(view(policy, step('scopes', 'warning'))).text).toBe('See the warnings below.');
    const missing = step('credential', 'failed', { action: 'Connect the server.', code: 'X' });
    expect(summarizeDiagnosis(view(policy, missing, step('tools', 'skipped')))).toEqual({
      tone: 'danger',
      title: 'Failed at: Your sign-in or key',
      text: 'About credential. Connect the server.',
    });
    // The first that failed, not the last.
    expect(summarizeDiagnosis(view(step('metadata', 'failed'), missing)).title).toContain('Sign-in metadata');
  });

  test('sets aside what was not looked at, and names every step', () => {
    const { checked, skipped } = splitSteps(view(step('policy', 'ok'), step('dns', 'skipped')));
    expect([checked, skipped].map((part) => part.map((one) => one.step))).toEqual([['policy'], ['dns']]);
    expect(stepName('tls')).toBe('Connection and TLS certificate');
    expect(stepName('moon_phase')).toBe('moon phase');
  });
});
