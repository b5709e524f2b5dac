import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createOutputCollector, type OutputPiece } from './collectedOutput.ts';
import { CLIENT_SECRETS, startIdJagRig, type IdJagRig } from './idJagRig.ts';
import { subjectSeenByServer } from './oboCaller.ts';
import { captureTraffic, type TrafficCapture } from './oboTrafficCapture.ts';
import { createSignedInVisitor } from './oboSignInVisitor.ts';
import { createPlantedSecrets } from './plantedSecrets.ts';

describe('what an exchange by identity assertion leaves behind', () => {
  let rig: IdJagRig;
  let overheard: TrafficCapture;
  const planted = createPlantedSecrets();
  let pieces: OutputPiece[];
  let names: string[];

  beforeAll(async () => {
    overheard = captureTraffic();
    rig = await startIdJagRig({ variables: { LOG_LEVEL: 'debug', CREDS_KEY: 'e'.repeat(64) } });
    const uma = await createSignedInVisitor(rig, 'uma');
    expect(subjectSeenByServer(await uma.call('wiki'))).toBe('uma');
    // And when it fails, on either leg.
    const ada = await createSignedInVisitor(rig, 'ada');
    rig.resourceServer.dropResponses(2);
    await ada.call('wiki');
    const gil = await createSignedInVisitor(rig, 'gil');
    await gil.call('wiki');
    const port = (url: string) => Number(new URL(url).port);
    names = [rig.idp.issuer, rig.resourceServer.issuer].flatMap((url) =>
      overheard.plantSecrets(port(url), planted),
    );
    for (const [name, value] of Object.entries(CLIENT_SECRETS)) planted.add(`secret of ${name}`, value);
    const collected = createOutputCollector(rig);
    pieces = [
      ...overheard.responsesOf(port(rig.url)),
      ...collected.listLogLines(),
      ...(await collected.readRecords()),
      ...(await collected.readFiles()),
    ];
  }, 120_000);
  afterAll(async () => {
    overheard.stop();
    await rig.close();
  });

  test('no ID token, assertion, token or secret, in no answer, log or store', () => {
    for (const field of ['id_token', 'assertion', 'access_token', 'refresh_token', 'client_assertion']) {
      expect([field, names.some((name) => name.includes(field))]).toEqual([field, true]);
    }
    expect(pieces.some(({ text }) => text.includes('uma'))).toBe(true);
    const found = pieces.flatMap(({ from, text }) =>
      planted.findIn(text).map((what) => `${what} in ${from}`),
    );
    expect(found).toEqual([]);
  });
});
