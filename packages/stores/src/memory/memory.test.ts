import { systemClock, systemRandom } from '@behalf/kernel';
import { primarySuites } from '@behalf/testkit/suites';
import { openMemoryStore } from './openMemoryStore.ts';

primarySuites('memory', async () => openMemoryStore({ clock: systemClock, random: systemRandom }));
