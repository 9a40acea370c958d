#include "../flow/shock_sensor.cu"
