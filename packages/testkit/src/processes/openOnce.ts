import { systemClock, systemRandom } from '@behalf/kernel';
import { openSqliteStore } from '@behalf/stores/sqlite';

// A start with nothing else going on: no server, no channel to a parent that would keep the process alive.
process.stdout.write('opening\n');
openSqliteStore({ clock: systemClock, random: systemRandom, file: process.argv[2] ?? '' })
  .then(async (store) => {
    process.stdout.write('opened\n');
    await store.close();
  })
  .catch((error: unknown) => {
    process.stdout.write(`${String(error)}\n`);
    process.exitCode = 1;
  });
