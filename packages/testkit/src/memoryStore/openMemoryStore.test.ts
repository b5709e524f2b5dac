import { systemClock, systemRandom } from '@behalf/kernel';
import { primarySuites } from '../suites/index.ts';
import { openMemoryStore } from './openMemoryStore.ts';

primarySuites('memory', async () => openMemoryStore({ clock: systemClock, random: systemRandom }));
