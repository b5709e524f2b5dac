import { systemClock, systemRandom } from '@behalf/kernel';
import { openSqliteStore } from '@behalf/stores/sqlite';

// Opens the store in a process without a server or a channel, which nothing else keeps alive.
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
