import { describe, expect, test } from '@jest/globals';
import { createCredentialSummary, createDiagnoseRig } from '../../test/diagnoseRig.ts';
import { adaUser } from '../../test/toolcallRig.ts';

const nothing = { obtained: 0, leases: 0, sent: 0 };
const skipped = (step: string) =>
  expect.objectContaining({ step, outcome: 'skipped', message: expect.stringContaining('other users') });

describe('a diagnosis about somebody else', () => {
  test('tells how their credential stands, and presents it nowhere', async () => {
    const rig = createDiagnoseRig({ requiresOAuth: true });
    rig.summary = createCredentialSummary();
    const view = await rig.run(adaUser, 'odd', true);
    expect(view).toMatchObject({ ok: true });
    expect(view.steps.find(({ step }) => step === 'credential')).toMatchObject({ outcome: 'ok' });
    expect(view.steps.slice(-2)).toEqual([skipped('connection'), skipped('tools')]);
    expect(rig.spent()).toEqual(nothing);
    // The same in their own name.
    await rig.run(adaUser, 'odd');
    expect(rig.spent()).not.toEqual(nothing);
  });

  test('exchanges nothing of theirs', async () => {
    const rig = createDiagnoseRig({ obo: { scopes: 'api://mail/.default' } });
    const { steps } = await rig.run(adaUser, 'odd', true);
    expect(steps.find(({ step }) => step === 'trust')).toMatchObject({
      outcome: expect.not.stringMatching('skipped'),
    });
    expect(steps.find(({ step }) => step === 'exchange')).toMatchObject({ outcome: 'skipped' });
    expect(rig.spent()).toEqual(nothing);
  });

  test('sends no value of theirs, not even as a part of an address', async () => {
    const rig = createDiagnoseRig({
      url: 'https://mcp.example/{{PLACE}}/mcp',
      customUserVars: { PLACE: { title: 'Place', description: 'Where' } },
    });
    Object.assign(rig, { values: { PLACE: 'pl4nted' }, flags: { PLACE: true } });
    const { steps } = await rig.run(adaUser, 'odd', true);
    expect(steps.find(({ step }) => step === 'variables')).toMatchObject({ outcome: 'ok' });
    expect(steps.find(({ step }) => step === 'server')).toMatchObject({ outcome: 'skipped' });
    expect([rig.judged, rig.connected, rig.openedTargets]).toEqual([0, 0, []]);
    expect(rig.spent()).toEqual(nothing);
    await rig.run(adaUser, 'odd');
    expect(JSON.stringify(rig.openedTargets)).toContain('pl4nted');
  });
});
