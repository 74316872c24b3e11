// How often does each class label occur? Labels outside [0, classes) are ignored.
__global__ void count_labels(const unsigned short* labels, int* counts, int n, int classes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const int k = labels[i];
    if (k < classes) atomicAdd(counts + k, 1);
  }
}

void count_labels_launch(const unsigned short* labels, int* counts, int n, int classes) {
  cudaMemset(counts, 0, sizeof(int) * classes);
  count_labels<<<(n + 255) / 256, 256>>>(labels, counts, n, classes);
}
