import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createCollected, type Piece } from './collected.ts';
import { SECRETS, startIdJagScene, type IdJagScene } from './idJagScene.ts';
import { seenBy } from './oboCaller.ts';
import { overhear, type Overheard } from './oboSecretsOverheard.ts';
import { signedInAt } from './oboSignInVisitor.ts';
import { createPlanted } from './planted.ts';

describe('what an exchange by identity assertion leaves behind', () => {
  let scene: IdJagScene;
  let overheard: Overheard;
  const planted = createPlanted();
  let pieces: Piece[];
  let names: string[];

  beforeAll(async () => {
    overheard = overhear();
    scene = await startIdJagScene({ variables: { LOG_LEVEL: 'debug', CREDS_KEY: 'e'.repeat(64) } });
    const uma = await signedInAt(scene, 'uma');
    expect(seenBy(await uma.call('wiki'))).toBe('uma');
    // And when it fails, on either leg.
    const ada = await signedInAt(scene, 'ada');
    scene.as.dropResponses(2);
    await ada.call('wiki');
    const gil = await signedInAt(scene, 'gil');
    await gil.call('wiki');
    const port = (url: string) => Number(new URL(url).port);
    names = [scene.idp.issuer, scene.as.issuer].flatMap((url) => overheard.plantSecrets(port(url), planted));
    for (const [name, value] of Object.entries(SECRETS)) planted.add(`secret of ${name}`, value);
    const collected = createCollected(scene);
    pieces = [
      ...overheard.answersOf(port(scene.url)),
      ...collected.logLines(),
      ...(await collected.records()),
      ...(await collected.files()),
    ];
  }, 120_000);
  afterAll(async () => {
    overheard.stop();
    await scene.close();
  });

  test('no ID token, assertion, token or secret, in no answer, log or store', () => {
    for (const field of ['id_token', 'assertion', 'access_token', 'refresh_token', 'client_assertion']) {
      expect([field, names.some((name) => name.includes(field))]).toEqual([field, true]);
    }
    expect(pieces.some(({ text }) => text.includes('uma'))).toBe(true);
    const found = pieces.flatMap(({ from, text }) =>
      planted.foundIn(text).map((what) => `${what} in ${from}`),
    );
    expect(found).toEqual([]);
  });
});
