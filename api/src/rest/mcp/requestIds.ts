import type { Random } from '@behalf/kernel';

/** Names requests of this process in turn: a random name for each would cost more than it tells. */
export function createRequestIds(random: Random): () => string {
  const processId = random.id().slice(0, 8);
  let count = 0;
  return () => {
    count += 1;
    return `${processId}-${count.toString(36)}`;
  };
}
