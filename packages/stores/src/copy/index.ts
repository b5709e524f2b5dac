export { copyStore, CopyRefused, type CopyProgress } from './copyStore.ts';
export { rotateStore, RotationRefused, type Rotation } from './rotateStore.ts';
